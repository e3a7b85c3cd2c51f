//! Arrays that are open to the outside: their elements are memory that others read and write, too.
//!
//! Values of recorded programs never change, but memory that another library knows does. An
//! [`Opening`] brings both together. It belongs to one array (all handles of one base) and consists
//! of [`OpenPiece`]s of memory that cover its elements.
//!
//! - **Whose it is.** The memory is that of the base's newest computed version, its *bound* node, and
//!   of nothing else. Opening an array whose elements others share (another array, an expression that
//!   waits) gives it a copy of its own first; an array that is not shared is opened as it is. A
//!   program whose result would be the memory itself (`b = a.copy()`) gets a copy.
//! - **Reading.** What is recorded from an open array reads the bytes that are there when it runs,
//!   not when it was recorded. What was computed stays as it is.
//! - **Assigning.** `a[...] = x` is recorded as ever. When it is computed, which is when a caller
//!   reads the array or asks for its memory again, the new elements are written into the pieces,
//!   and the new version becomes the bound one. If the version before is still needed by an
//!   expression that was recorded before the assignment, it gets a copy first.
//! - **Direct or staged.** Memory that lies as tiles lie (row-major in a row, its padding the room of
//!   the tile) *is* the tile: nothing is copied to read it. Any other memory (other orders, read-only
//!   with padding, more sections than ranks) is *staged*: copied into tiles before every program that
//!   reads it.
//! - **How long.** Memory that was brought in belongs to the array as long as that lives. Memory that
//!   was shown to others is open as long as they keep the [`Opening`]; then the array is an ordinary
//!   one again.
//! - **Where.** All of this happens within a process: programs are the same whether an array is open
//!   or not. Only arrays that are dealt out (not cut in blocks) record one movement more, because
//!   assigning to a part of them changes where they live. Among processes these stay open once they
//!   were, because all processes have to record the same.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use pantile_engine::{ArrayId, DType, ExternalBuffer, Pick, Tile, TilePlaces};
use pantile_geometry::{Cut, Distribution, Rank};
use pantile_ir::{Env, Op, Place, Placement, Type};
use pantile_lower::owned_places;
use smallvec::smallvec;

use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::{Home, Node, Stored, lock};
use super::session::Inner;
use super::{Array, Session, here};

/// Memory with some elements of an array.
pub struct OpenPiece {
    /// The rank whose section it is; `None` if it is not that of one rank.
    pub rank: Option<Rank>,
    /// The memory.
    pub foreign: ExternalBuffer,
    /// Along each axis: place in the memory and global index of the elements.
    pub places: Vec<Vec<(usize, usize)>>,
}

/// Memory that an array shares with others; see the text above.
pub struct Opening {
    pieces: Vec<OpenPiece>,
    /// The tiles that are the memory itself; empty if it is staged.
    direct: Vec<(Rank, Arc<Tile>)>,
    /// Where the array lived when it was opened.
    home: Arc<Home>,
    read_only: bool,
    note: Option<Note>,
    /// Where versions are brought after assignments, where they could be elsewhere.
    kept_at: Option<Placement>,
    /// The node whose elements the memory has, and its name.
    bound: Mutex<(Weak<Node>, ArrayId)>,
    /// The newest version.
    latest: Mutex<Weak<Node>>,
    world: Weak<Inner>,
}

/// How a node knows its opening.
#[derive(Default)]
pub(crate) struct OpeningOfNode {
    of: Weak<Opening>,
    /// The same, if it lives as long as the array does.
    own: Option<Arc<Opening>>,
}

/// What is brought in.
pub struct Brought {
    /// Which rank owns what, and nothing else.
    pub plain: Distribution,
    /// How it lies in memory.
    pub room: Distribution,
    /// The type of the elements.
    pub dtype: DType,
    /// Memory that has all elements that hosted ranks own.
    pub pieces: Vec<OpenPiece>,
    /// It is read-only.
    pub read_only: bool,
    /// Tiles of hosted ranks that are the memory itself, or none at all.
    pub direct: Vec<(Rank, Tile)>,
    /// What the library that brought it noted about it.
    pub note: Option<Note>,
}

/// What is known of memory that another library brought in.
pub type Note = Arc<dyn std::any::Any + Send + Sync>;

impl Opening {
    /// The memory.
    #[must_use]
    pub fn pieces(&self) -> &[OpenPiece] {
        &self.pieces
    }

    /// Which rank owned what when it was opened.
    #[must_use]
    pub fn home(&self) -> &Distribution {
        &self.home.plain
    }

    /// True if it is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// True if the memory itself is what programs read.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        !self.direct.is_empty()
    }

    /// The tile that is a rank's memory, the shape of what the rank owned when it was opened, and
    /// where that is in the tile; `None` if it is not here.
    #[must_use]
    pub fn tile(&self, rank: Rank) -> Option<(Arc<Tile>, Vec<usize>, TilePlaces)> {
        let (_, tile) = self.direct.iter().find(|(own, _)| *own == rank)?;
        let shape = super::sections::owned_shape(&self.home.plain, rank);
        let nowhere = || TilePlaces { first: 0, strides: vec![0; shape.len()] };
        let places = tile_places(&self.home, rank).unwrap_or_else(nowhere);
        Some((Arc::clone(tile), shape, places))
    }

    fn is_bound(&self, node: &Arc<Node>) -> bool {
        std::ptr::eq(lock(&self.bound).0.as_ptr(), Arc::as_ptr(node))
    }

    fn is_latest(&self, node: &Arc<Node>) -> bool {
        std::ptr::eq(lock(&self.latest).as_ptr(), Arc::as_ptr(node))
    }

    fn bind(&self, node: &Arc<Node>, id: ArrayId) {
        *lock(&self.bound) = (Arc::downgrade(node), id);
    }

    /// Copies what is in memory into a new tile of a rank.
    fn staged(&self, home: &Home, rank: Rank, dtype: DType) -> Tile {
        let shape = home.room.local_shape(rank).unwrap_or_else(|| vec![0]);
        let mut tile = Tile::zeroed(dtype, shape.iter().product());
        self.each(home, rank, |piece, picks, places| {
            piece.foreign.read(picks, places, &mut tile);
        });
        tile
    }

    /// Calls `f` with every piece and where its elements are in the tile of a rank.
    fn each(
        &self,
        home: &Home,
        rank: Rank,
        mut f: impl FnMut(&OpenPiece, &[Vec<Pick>], &TilePlaces),
    ) {
        let Some(places) = tile_places(home, rank) else { return };
        // Of an element that several sections have, the first one's is read.
        for piece in self.pieces.iter().rev() {
            let axes = piece.places.iter().enumerate();
            let picks: Vec<Vec<Pick>> =
                axes.map(|(axis, list)| picks(&home.plain, rank, axis, list)).collect();
            if picks.iter().all(|list| !list.is_empty()) {
                f(piece, &picks, &places);
            }
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // The ranks would keep memory of others until the next program.
        let Some(world) = self.world.upgrade() else { return };
        let id = lock(&self.bound).1;
        let bound = lock(&self.bound).0.upgrade();
        if bound.is_none()
            && let Ok(mut executor) = world.executor.try_lock()
            && executor.is_idle()
        {
            executor.forget(&[id]);
        }
    }
}

/// Where the owned elements of a rank lie in its tile; `None` if it has none.
fn tile_places(home: &Home, rank: Rank) -> Option<TilePlaces> {
    let (_, places) = owned_places(&home.room, rank)?;
    let number = |place: isize| usize::try_from(place).unwrap_or(0);
    let strides = places.strides.into_iter().map(number).collect();
    Some(TilePlaces { first: number(places.offset), strides })
}

/// The elements of a piece that a rank owns, along an axis.
fn picks(plain: &Distribution, rank: Rank, axis: usize, list: &[(usize, usize)]) -> Vec<Pick> {
    let Some(owned) = plain.owned_elements(rank) else { return Vec::new() };
    let runs = owned.runs().nth(axis).unwrap_or_default();
    if let [(from, to)] = *runs {
        let inside = list.iter().filter(|(_, global)| (from..to).contains(global));
        return inside.map(|(local, global)| (*local, global - from)).collect();
    }
    let own = runs.iter().flat_map(|(from, to)| *from..*to);
    let own: BTreeMap<usize, usize> =
        own.enumerate().map(|(local, global)| (global, local)).collect();
    list.iter().filter_map(|(local, global)| own.get(global).map(|here| (*local, *here))).collect()
}

/// True if every element is on one rank.
fn is_single(home: &Distribution) -> bool {
    let shape = home.mesh().shape();
    let free = home.free_mesh_axes().into_iter().all(|axis| shape[axis] == 1);
    free && home.axes().is_some_and(|maps| maps.iter().all(pantile_geometry::AxisMap::is_single))
}

impl Node {
    /// The memory that it shares with others.
    pub(crate) fn opening(&self) -> Option<Arc<Opening>> {
        // Nearly no array ever does: that takes no lock.
        self.was_open.load(Ordering::Relaxed).then(|| lock(&self.open).of.upgrade())?
    }

    /// This is the next version of an array that is open.
    fn follow(self: &Arc<Self>, before: &Self, opening: &Arc<Opening>) {
        let own = lock(&before.open).own.clone();
        self.was_open.store(true, Ordering::Relaxed);
        *lock(&self.open) = OpeningOfNode { of: Arc::downgrade(opening), own };
        *lock(&opening.latest) = Arc::downgrade(self);
    }
}

impl Session {
    /// An array whose elements are memory of others.
    ///
    /// # Errors
    /// If a direct tile has not the length or type that it should have.
    #[track_caller]
    pub fn bring(&self, brought: Brought) -> Result<Array, Fault> {
        let place = here();
        self.check_near(&place)?;
        let Brought { plain, room, dtype, pieces, read_only, direct, note } = brought;
        self.make_ranks(plain.mesh().ranks_needed())?;
        let home = Home::new(plain, room);
        for (rank, tile) in &direct {
            let shape = home.room.local_shape(*rank).unwrap_or_else(|| vec![0]);
            let expected: usize = shape.iter().product();
            if (tile.len(), tile.dtype()) != (expected, dtype) {
                let (rank, got) = (*rank, (tile.len(), tile.dtype()));
                let expected = (expected, dtype);
                return Err(Fault::new(FaultKind::SharedTile { rank, got, expected }, place));
            }
        }
        let direct: Vec<_> =
            direct.into_iter().map(|(rank, tile)| (rank, Arc::new(tile))).collect();
        let ty = Type::array(home.plain.shape(), dtype);
        let node = self.stored_node(ty, place, &home, &direct)?;
        let opening = self.opening(&node, (pieces, direct), read_only, note);
        node.was_open.store(true, Ordering::Relaxed);
        *lock(&node.open) = OpeningOfNode { of: Arc::downgrade(&opening), own: Some(opening) };
        Ok(Array::of(self, node))
    }

    /// A node with these elements; ranks without a tile have nothing yet.
    fn stored_node(
        &self,
        ty: Type,
        place: Place,
        home: &Arc<Home>,
        tiles: &[(Rank, Arc<Tile>)],
    ) -> Result<Arc<Node>, Fault> {
        let (id, dtype) = (self.inner.new_id(), ty.dtype().unwrap_or(DType::F64));
        {
            let mut executor = lock(&self.inner.executor);
            executor.put(id, |_| Tile::zeroed(dtype, 0))?;
            executor.replace(id, tiles);
        }
        let deferred_frees = Arc::clone(&self.inner.deferred_frees);
        let home = Arc::clone(home);
        Ok(Node::kept(ty, place, Stored { id, home, tiles: None, deferred_frees }))
    }

    /// Refuses to share memory that this process does not have.
    fn check_near(&self, place: &Place) -> Result<(), Fault> {
        if self.inner.in_process {
            return Ok(());
        }
        Err(Fault::new(FaultKind::NotShared, place.clone()))
    }

    /// An opening of a stored node.
    fn opening(
        &self,
        node: &Arc<Node>,
        (pieces, direct): (Vec<OpenPiece>, Vec<(Rank, Arc<Tile>)>),
        read_only: bool,
        note: Option<Note>,
    ) -> Arc<Opening> {
        let stored = lock(&node.stored);
        let (id, home) =
            stored.as_ref().map_or_else(|| unreachable!("it is stored"), |s| (s.id, &s.home));
        let dealt = home.plain.axes().is_some_and(|maps| {
            maps.iter().any(|map| map.parts() > 1 && !matches!(map.cut(), Cut::Block(_)))
        });
        Arc::new(Opening {
            pieces,
            direct,
            home: Arc::clone(home),
            read_only,
            note,
            kept_at: dealt.then(|| Placement::At(Arc::clone(&home.plain))),
            bound: Mutex::new((Arc::downgrade(node), id)),
            latest: Mutex::new(Arc::downgrade(node)),
            world: Arc::downgrade(&self.inner),
        })
    }

    /// Takes over what others wrote, if a node is read from memory that is staged.
    pub(crate) fn stage(&self, node: &Arc<Node>) {
        let Some(opening) = node.opening().filter(|opening| opening.is_bound(node)) else { return };
        let Some((id, home)) =
            lock(&node.stored).as_ref().map(|stored| (stored.id, Arc::clone(&stored.home)))
        else {
            return;
        };
        if opening.is_direct() && home.fingerprint == opening.home.fingerprint {
            return;
        }
        let dtype = node.ty.dtype().unwrap_or(DType::F64);
        let hosted = self.hosted_of(&home.room);
        let staged = |rank: &Rank| (*rank, Arc::new(opening.staged(&home, *rank, dtype)));
        let tiles: Vec<(Rank, Arc<Tile>)> = hosted.iter().map(staged).collect();
        self.replace(node, id, &tiles);
    }

    /// Gives a stored node other tiles.
    fn replace(&self, node: &Node, id: ArrayId, tiles: &[(Rank, Arc<Tile>)]) {
        lock(&self.inner.executor).replace(id, tiles);
        if let Some(stored) = lock(&node.stored).as_mut() {
            stored.tiles = None;
        }
    }

    /// Writes the newest version of an open array into its memory, once it is computed.
    pub(crate) fn write_through(&self, node: &Arc<Node>) -> Result<(), Fault> {
        let Some(opening) = node.opening() else { return Ok(()) };
        if !opening.is_latest(node) || opening.is_bound(node) || opening.read_only {
            return Ok(());
        }
        let before = lock(&opening.bound).0.upgrade();
        if let Some(before) = before {
            self.detach(&before, &opening)?;
        }
        let Some((home, tiles)) = self.tiles_of(node)? else { return Ok(()) };
        for (rank, tile) in tiles.iter() {
            opening.each(&home, *rank, |piece, picks, places| {
                piece.foreign.write(picks, places, tile);
            });
        }
        let Some(id) = lock(&node.stored).as_ref().map(|stored| stored.id) else { return Ok(()) };
        if opening.is_direct() && home.fingerprint == opening.home.fingerprint {
            self.replace(node, id, &opening.direct);
        }
        opening.bind(node, id);
        Ok(())
    }

    /// A version that was bound, and that is still needed, gets memory of its own.
    fn detach(&self, before: &Arc<Node>, opening: &Opening) -> Result<(), Fault> {
        // One reference is the caller's.
        if Arc::strong_count(before) > 1 {
            self.stage(before);
            let id = lock(&before.stored).as_ref().map(|stored| stored.id);
            if let (true, Some(id)) = (opening.is_direct(), id) {
                let tiles =
                    lock(&self.inner.executor).get(id, &self.hosted_of(&opening.home.room))?;
                let copies: Vec<_> = tiles
                    .into_iter()
                    .map(|(rank, tile)| (rank, Arc::new(Tile::clone(&tile))))
                    .collect();
                self.replace(before, id, &copies);
            }
        }
        *lock(&before.open) = OpeningOfNode::default();
        Ok(())
    }

    /// What the callers of all processes have to say, by rank; a single caller hears itself.
    /// Collective among processes.
    ///
    /// # Errors
    /// If they are elsewhere, or one of them is not there any more.
    #[track_caller]
    pub fn gather_records(&self, name: &str, record: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        let place = here();
        let (file, line) = (place.file.to_string().into(), place.line);
        let name = name.to_owned().into();
        let call = pantile_comm::CollectiveSignature { name, fingerprint: 0, file, line };
        Ok(lock(&self.inner.executor).gather(&call, record)?)
    }
}

impl Array {
    /// Opens the array that this is a view of: others may read and write its memory as long as they
    /// keep what they get. Computes it. `None` if several ranks have the same element, because what
    /// is written to one of them would not be seen by the others.
    ///
    /// # Errors
    /// As [`Array::compute`].
    #[track_caller]
    pub fn open(&self) -> Result<Option<Arc<Opening>>, Fault> {
        let place = here();
        self.world.check_near(&place)?;
        let node = Arc::clone(&lock(&self.base));
        self.world.evaluate(&[Arc::clone(&node)], &place)?;
        if let Some(opening) = node.opening() {
            return Ok(Some(opening));
        }
        let Some((home, tiles)) = self.world.tiles_of(&node)? else { return Ok(None) };
        if !is_single(&home.plain) {
            return Ok(None);
        }
        let Some(id) = lock(&node.stored).as_ref().map(|stored| stored.id) else { return Ok(None) };
        // One reference is the base's, and one is here.
        let shared = Arc::strong_count(&node) > 2 || lock(&self.world.inner.executor).is_shared(id);
        let tiles = tiles.iter();
        let tiles: Vec<(Rank, Arc<Tile>)> = match shared {
            false => tiles.cloned().collect(),
            true => tiles.map(|(rank, tile)| (*rank, Arc::new(Tile::clone(tile)))).collect(),
        };
        tiles.iter().for_each(|(_, tile)| tile.set_open());
        let node = match shared {
            false => node,
            true => {
                let own = self.world.stored_node(node.ty.clone(), place, &home, &tiles)?;
                *lock(&self.base) = Arc::clone(&own);
                own
            }
        };
        let pieces = tiles.iter().map(|(rank, tile)| own_piece(&home, *rank, tile)).collect();
        let opening = self.world.opening(&node, (pieces, tiles), false, None);
        // Processes must not differ in what they record, whichever of them still have views.
        let apart = self.world.inner.is_spread;
        let own = (apart && opening.kept_at.is_some()).then(|| Arc::clone(&opening));
        node.was_open.store(true, Ordering::Relaxed);
        *lock(&node.open) = OpeningOfNode { of: Arc::downgrade(&opening), own };
        Ok(Some(opening))
    }

    /// True if others share its memory.
    #[must_use]
    pub fn is_open(&self) -> bool {
        lock(&self.base).opening().is_some()
    }

    /// What the library that brought its memory in noted about it.
    #[must_use]
    pub fn brought_note(&self) -> Option<Note> {
        let opening = lock(&self.base).opening();
        opening.and_then(|opening| opening.note.clone())
    }

    /// Where it lives. Computes it.
    ///
    /// # Errors
    /// As [`Array::compute`].
    #[track_caller]
    pub fn distribution(&self) -> Result<Distribution, Fault> {
        let place = here();
        let node = self.node(&place);
        self.world.evaluate(&[Arc::clone(&node)], &place)?;
        let home = lock(&node.stored).as_ref().map(|stored| stored.home.plain.home().clone());
        home.ok_or_else(|| Fault::new(FaultKind::NoElements, place))
    }

    /// True if its memory is that of another library, which does not let it be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        let opening = lock(&self.base).opening();
        opening.is_some_and(|opening| opening.read_only)
    }

    /// The next version of the base, as the opening of the one before wants it.
    pub(crate) fn followed(&self, changed: Arc<Node>, place: &Place) -> Arc<Node> {
        let before = Arc::clone(&lock(&self.base));
        let Some(opening) = before.opening() else { return changed };
        if changed.fault.is_some() {
            return changed;
        }
        if opening.read_only {
            let fault = Fault::new(FaultKind::ReadOnly, place.clone());
            return Node::faulty(fault, changed.ty.clone());
        }
        let changed = match &opening.kept_at {
            None => changed,
            Some(placement) => {
                let shape = changed.shape();
                let dtype = changed.ty.dtype().unwrap_or(DType::F64);
                let Type::Array(array) = Type::array(&shape, dtype) else {
                    unreachable!("it is an array")
                };
                let ty = Type::Array(array.placed(Some(Env::Placement(placement.clone()))));
                Node::new(Op::Redistribute, smallvec![changed], ty, place.clone())
            }
        };
        changed.follow(&before, &opening);
        changed
    }
}

/// What a rank owns, in its tile.
fn own_piece(home: &Home, rank: Rank, tile: &Arc<Tile>) -> OpenPiece {
    let shape = super::sections::owned_shape(&home.plain, rank);
    let nowhere = || TilePlaces { first: 0, strides: vec![0; shape.len()] };
    let places = tile_places(home, rank).unwrap_or_else(nowhere);
    let runs = super::sections::runs_of(&home.plain, rank);
    let globals = |runs: &Vec<(usize, usize)>| {
        runs.iter().flat_map(|(from, to)| *from..*to).enumerate().collect()
    };
    let places_of: Vec<Vec<(usize, usize)>> = runs.iter().map(globals).collect();
    let foreign = match tile.is_empty() && shape.is_empty() {
        // A rank outside of the mesh of an array without axes.
        true => ExternalBuffer::of_tile(tile, vec![0], &TilePlaces { first: 0, strides: vec![0] }),
        false => ExternalBuffer::of_tile(tile, shape, &places),
    };
    OpenPiece { rank: Some(rank), foreign, places: places_of }
}
