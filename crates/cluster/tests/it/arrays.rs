//! Arrays on workers: the same code and the same bytes as on threads.

use crate::common::TestSite;
use pantile::prelude::*;
use pantile_testkit::timing::soon;

/// A plate that cools, and what is left in it.
fn plate(world: &Session, steps: usize) -> (Vec<f64>, f64) {
    let u = world.dist("block(r), whole").from_fn(&[13, 7], |index| (index[0] * index[1]) as f64);
    for _ in 0..steps {
        let around = u.get(s![..-2, 1..-1])
            + u.get(s![2.., 1..-1])
            + u.get(s![1..-1, ..-2])
            + u.get(s![1..-1, 2..]);
        u.set(s![1..-1, 1..-1], 0.25 * around);
    }
    (u.to_vec::<f64>().unwrap(), u.sum().item::<f64>().unwrap())
}

#[test]
fn the_same_bytes_as_on_threads() {
    for workers in [1, 2, 3, 5] {
        let site = TestSite::new(workers);
        for ranks in [0, 1, 2, 7] {
            let (world, _) = site.connect(ranks);
            assert_eq!(world.ranks(), if ranks == 0 { workers } else { ranks });
            assert_eq!(
                plate(&world, 5),
                plate(&Session::threads(1).unwrap(), 5),
                "{workers} {ranks}"
            );
        }
    }
}

#[test]
fn what_is_there_is_not_sent_again() {
    let site = TestSite::new(2);
    let (world, meter) = site.connect(0);
    let a = world.dist("block(r)").from_fn(&[1000], |index| index[0] as f64);
    assert_eq!(meter.read().bytes_up, 8000);
    let mut sum = &a + 0.0;
    for _ in 0..20 {
        sum = &sum * 0.5 + &a;
        sum.compute().unwrap();
    }
    let after = meter.read();
    assert_eq!((after.bytes_up, after.bytes_down), (8000, 0), "chained programs move nothing");
    assert!(after.programs <= 4 && after.runs >= 20, "{after:?}");
    // Of copies, one is fetched.
    assert!(sum.sum().item::<f64>().unwrap() > 0.0);
    assert_eq!(meter.read().bytes_down, 8);
}

#[test]
fn frames_may_be_of_any_size() {
    let site = TestSite::new(2);
    for frame in [1, 100, 1 << 20] {
        let mut options = pantile_cluster::ClusterOptions::default();
        options.frame = frame;
        let (world, _) = site.connect_with(options);
        let numbers: Vec<i32> = (0..501).collect();
        let a = world.dist("block(r)").from_vec(&[501], &numbers);
        assert_eq!(a.to_vec::<i32>().unwrap(), numbers);
    }
}

#[test]
fn memory_cannot_be_shared_from_afar() {
    let site = TestSite::new(1);
    let (world, _) = site.connect(0);
    let a = world.arange(0, 10, 1);
    let Err(fault) = a.open() else { panic!("it was opened") };
    assert!(fault.kind.to_string().contains("on the workers of a cluster"), "{fault}");
}

#[test]
fn clients_have_nothing_of_each_other() {
    let site = TestSite::new(2);
    let worlds: Vec<_> = (0..6).map(|_| site.connect(0).0).collect();
    std::thread::scope(|scope| {
        for (number, world) in worlds.iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..5 {
                    let a = world.dist("block(r)").from_fn(&[100], |_| number as i64);
                    assert_eq!(a.sum().item::<i64>().unwrap(), 100 * number as i64);
                }
            });
        }
    });
}

/// Bytes that the workers keep, once they have said so.
fn stored(site: &TestSite, expected: u64) -> u64 {
    let guard = pantile_cluster::Guard::default();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let status = pantile_cluster::Cluster::status(&site.address(), &guard).unwrap();
        let bytes: u64 = status.iter().map(|worker| worker.stored).sum();
        if bytes == expected || std::time::Instant::now() > until {
            return bytes;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn what_nobody_refers_to_is_freed() {
    let site = TestSite::new(2);
    let (all, meter) = site.connect(0);
    let world = all.dist("block(r)");
    let mut a = world.from_fn(&[1000], |_| 1.0);
    for _ in 0..1000 {
        a = 0.5 * &a + 1.0;
        a.compute().unwrap();
    }
    for _ in 0..20 {
        drop(world.from_fn(&[1000], |_| 1.0));
    }
    drop(world.from_fn(&[1], |_| 1.0));
    assert_eq!(stored(&site, 8000), 8000, "the last array");
    assert!(meter.read().programs <= 4, "{:?}", meter.read());
    drop((a, world, all));
    assert_eq!(stored(&site, 0), 0, "a client that leaves has left nothing");
}

#[test]
fn arrays_that_were_dropped_are_freed_without_another_call() {
    use pantile_cluster::{Cluster, Guard};

    let site = TestSite::new(3);
    let (world, _) = site.connect(0);
    let stored = || {
        let workers = Cluster::status(&site.address(), &Guard::default()).unwrap();
        workers.iter().map(|worker| worker.stored).sum::<u64>()
    };
    let kept = world.dist("block(r)").from_fn(&[1000], |at| at[0] as f64);
    let brought = world.dist("block(r)").from_fn(&[5000], |at| at[0] as f64);
    let made = &kept + 1.0;
    made.compute().unwrap();
    soon("all of them", || (stored() == 8 * 7000).then_some(()));
    drop(brought);
    soon("one less", || (stored() == 8 * 2000).then_some(()));
    drop(made);
    soon("two less", || (stored() == 8 * 1000).then_some(()));
    assert_eq!(kept.sum().item::<f64>().unwrap(), 499_500.0);
}
