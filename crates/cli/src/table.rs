//! Columns of text.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows as lines: columns as wide as their widest cell, two spaces between, `indent` before.
pub(crate) fn aligned(rows: &[Vec<String>], align: &[Align], indent: usize) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = match align[column] {
                Align::Left => ("", gap.as_str()),
                Align::Right => (gap.as_str(), ""),
            };
            let space = if column > 0 { "  " } else { "" };
            line.push_str(&format!("{space}{before}{cell}{after}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "1"], ["long", "100"]].map(|row| row.map(str::to_owned).to_vec());
        let text = aligned(&rows, &[Align::Left, Align::Right], 1);
        assert_eq!(text, " a       1\n long  100\n");
    }
}
