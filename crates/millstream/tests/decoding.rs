//! Greedy and beam-search decoding against an exhaustive search.

use millstream::Decode;
use millstream::prelude::*;

const WORDS: usize = 4;
const END: i32 = 3;
const STEPS: usize = 4;

/// The probability of each token after the last two: a pseudo-random table.
fn table(seed: u64) -> Vec<f32> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut rows = Vec::new();
    for _ in 0..WORDS * WORDS {
        let mut row: Vec<f32> = (0..WORDS)
            .map(|_| {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((x >> 40) as f32 / (1u64 << 24) as f32) * 3.0
            })
            .collect();
        let total = row.iter().map(|v| v.exp()).sum::<f32>().ln();
        row.iter_mut().for_each(|v| *v -= total);
        rows.extend(row);
    }
    rows
}

fn penalty(length: usize, alpha: f32) -> f32 {
    ((5.0 + length as f32) / 6.0).powf(alpha)
}

/// Returns all sequences, best first: ended ones and truncated ones.
fn all(table: &[f32], start: usize, alpha: f32) -> Vec<(f32, Vec<i32>)> {
    let mut open = vec![(0f32, vec![], start, start)];
    let mut found = Vec::new();
    for length in 1..=STEPS {
        let mut next = Vec::new();
        for (sum, tokens, before, last) in open {
            for word in 0..WORDS {
                let sum = sum + table[(before * WORDS + last) * WORDS + word];
                let mut tokens: Vec<i32> = tokens.clone();
                tokens.push(word as i32);
                match word as i32 == END || length == STEPS {
                    true => found.push((sum / penalty(length, alpha), tokens)),
                    false => next.push((sum, tokens, last, word)),
                }
            }
        }
        open = next;
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

/// The net: its state is the previous token.
fn step<'g>(
    g: &'g Graph,
    table: Output<'g>,
    tokens: Output<'g>,
    before: Output<'g>,
) -> (Output<'g>, Output<'g>) {
    let rows = before * WORDS as i32 + tokens;
    (g.gather(table, rows, 0), tokens)
}

fn graph_table<'g>(g: &'g Graph, rows: &[f32]) -> Result<Output<'g>> {
    Ok(g.constant(Tensor::from_slice([WORDS * WORDS, WORDS], rows)?))
}

#[test]
fn a_beam_that_holds_everything_finds_the_best() -> Result<()> {
    for seed in 0..6 {
        for (alpha, early_stop) in
            [(0.0, true), (0.0, false), (0.8, true), (1.5, true), (-0.5, true), (1.0, false)]
        {
            let rows = table(seed);
            let g = Graph::new();
            let table = graph_table(&g, &rows)?;
            let starts = [0i32, 2];
            let start = g.constant(starts);
            let search = g.beam_search(start, start, 64).end_token(END).max_len(STEPS as i32);
            let beams = search
                .length_penalty(alpha)
                .early_stop(early_stop)
                .run(|tokens, before| Ok(step(&g, table, tokens, before)))?;
            let fetched = Session::new(&g)?.run((beams.tokens, beams.lengths, beams.scores), feed![])?;
            let (tokens, lengths, scores): (Tensor, Tensor, Tensor) = fetched;
            for (b, &start) in starts.iter().enumerate() {
                let want = all(&rows, start as usize, alpha as f32);
                // With early stop only the best are certain.
                let sure = if early_stop { 1 } else { 10 };
                for (k, (score, sequence)) in want.iter().take(sure).enumerate() {
                    let at = b * 64 + k;
                    let length = lengths.as_slice::<i32>()?[at] as usize;
                    let got = &tokens.as_slice::<i32>()?[at * STEPS..at * STEPS + length];
                    let got_score = scores.as_slice::<f32>()?[at];
                    assert!(
                        (got_score - score).abs() < 1e-5,
                        "seed {seed}, alpha {alpha}: {got_score} {score}"
                    );
                    // Equal scores may be in either order.
                    let own = want.iter().find(|(_, s)| s == got).map(|(score, _)| *score);
                    assert!(own.is_some_and(|own| (own - score).abs() < 1e-5), "{got:?} for {sequence:?}");
                }
            }
        }
    }
    Ok(())
}

/// The same search, written out.
fn narrow(table: &[f32], start: usize, width: usize) -> Vec<(f32, Vec<i32>)> {
    let (mut open, mut done) = (vec![(0f32, vec![], start, start)], Vec::new());
    for length in 1..=STEPS {
        let mut next: Vec<(f32, Vec<i32>, usize, usize)> = Vec::new();
        for (sum, tokens, before, last) in &open {
            for word in 0..WORDS {
                let mut tokens: Vec<i32> = tokens.clone();
                tokens.push(word as i32);
                next.push((sum + table[(before * WORDS + last) * WORDS + word], tokens, *last, word));
            }
        }
        next.sort_by(|a, b| b.0.total_cmp(&a.0));
        next.truncate(2 * width);
        let (ended, going): (Vec<_>, Vec<_>) = next.into_iter().partition(|n| n.3 as i32 == END);
        done.extend(ended.into_iter().map(|(sum, tokens, _, _)| (sum, tokens)));
        open = going;
        open.truncate(width);
        if length == STEPS {
            done.extend(open.iter().map(|(sum, tokens, _, _)| (*sum, tokens.clone())));
        }
    }
    done.sort_by(|a, b| b.0.total_cmp(&a.0));
    done.truncate(width);
    done
}

#[test]
fn a_narrow_beam_is_the_search_written_out() -> Result<()> {
    for seed in 0..20 {
        for width in [1, 2, 3] {
            let rows = table(seed);
            let g = Graph::new();
            let table = graph_table(&g, &rows)?;
            // The number of sequences is known only at run time.
            let start = g.placeholder::<i32>("start", shape![_]);
            let search = g.beam_search(start, start, width).end_token(END).max_len(STEPS as i32);
            let beams = search.early_stop(false).run(|tokens, before| Ok(step(&g, table, tokens, before)))?;
            let feeds = feed![start => [1, 0]];
            let (tokens, scores): (Tensor, Tensor) =
                Session::new(&g)?.run((beams.tokens, beams.scores), feeds)?;
            for (b, start) in [1, 0].into_iter().enumerate() {
                for (k, (score, sequence)) in narrow(&rows, start, width).iter().enumerate() {
                    let at = b * width + k;
                    let got = &tokens.as_slice::<i32>()?[at * STEPS..(at + 1) * STEPS];
                    assert!((scores.as_slice::<f32>()?[at] - score).abs() < 1e-5);
                    assert_eq!(&got[..sequence.len()], sequence, "seed {seed}, width {width}, place {k}");
                    assert!(got[sequence.len()..].iter().all(|t| *t == END));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn greedy_takes_the_likeliest_each_time() -> Result<()> {
    for seed in 0..20 {
        let rows = table(seed);
        let g = Graph::new();
        let table = graph_table(&g, &rows)?;
        let start = g.placeholder::<i32>("start", shape![_]);
        let decoder = g.greedy_decode(start, start).end_token(END).max_len(STEPS as i32);
        let decoded = decoder.run(|tokens, before| Ok(step(&g, table, tokens, before)))?;
        let fetched = (decoded.tokens, decoded.lengths, decoded.log_probs);
        let (tokens, lengths, sums): (Tensor, Vec<i32>, Vec<f32>) =
            Session::new(&g)?.run(fetched, feed![start => [0, 1, 2]])?;
        let time = tokens.shape().dims()[1];
        assert_eq!(time, *lengths.iter().max().unwrap() as usize, "it ends when all have");
        for start in 0..3usize {
            let (mut before, mut last, mut sum, mut want) = (start, start, 0f32, Vec::new());
            while want.len() < STEPS && want.last() != Some(&END) {
                let row = &rows[(before * WORDS + last) * WORDS..][..WORDS];
                let word = (0..WORDS).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
                (before, last, sum) = (last, word, sum + row[word]);
                want.push(word as i32);
            }
            assert_eq!(lengths[start] as usize, want.len());
            assert_eq!(&tokens.as_slice::<i32>()?[start * time..][..want.len()], want);
            assert!((sums[start] - sum).abs() < 1e-5);
        }
    }
    Ok(())
}

#[test]
fn mistakes_are_named() {
    let g = Graph::new();
    let start = g.constant([0]);
    let error = g.greedy_decode(start, ()).max_len(0).run(|t, ()| Ok((t, ()))).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("`max_len` must be at least 1, found 0"), "{error}");
    let error = g.beam_search(start, (), 0).run(|t, ()| Ok((t, ()))).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("the beam width must be at least 1, found 0"), "{error}");
}
