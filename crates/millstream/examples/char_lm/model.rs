//! The model: the next character after each character of a line.

use crate::text::{Batch, CHARACTERS, NEWLINE};
use millstream::prelude::*;
use millstream::rnn::{BasicLstmCell, Cell, LstmState};
use millstream::{Initializer, Recurrent, TensorArray, VariableScopes};

/// The size of a character's embedding.
const WIDTH: usize = 64;

/// An embedding, an LSTM, and a layer that computes the probability of each next character.
pub struct Model<'g> {
    embedding: Variable<'g>,
    cell: BasicLstmCell<'g>,
    kernel: Variable<'g>,
    bias: Variable<'g>,
}

/// The loss of a model on a batch.
pub struct Loss<'g> {
    /// The loss of all characters together, in nats.
    pub total: Output<'g>,
    /// The number of predicted characters.
    pub characters: Output<'g>,
    /// The number of places, padding included.
    pub places: Output<'g>,
}

impl<'g> Model<'g> {
    pub fn new(g: &'g Graph, units: usize) -> Result<Model<'g>> {
        let embedding = g.get_variable("embedding", [CHARACTERS, WIDTH]).build()?;
        let mut cell = BasicLstmCell::new(units);
        cell.build(g, "rnn/", WIDTH, DType::F32)?;
        let kernel = g.get_variable("softmax/kernel", [units, CHARACTERS]).build()?;
        let bias = g.get_variable("softmax/bias", [CHARACTERS]).initializer(Initializer::zeros()).build()?;
        Ok(Model { embedding, cell, kernel, bias })
    }

    fn logits(&self, outputs: Output<'g>) -> Output<'g> {
        outputs.matmul(self.kernel.value()) + self.bias.value()
    }

    /// Returns the loss of predicting each character except the first from those before it. Padding does not
    /// count.
    #[expect(clippy::reversed_empty_ranges, reason = "-1 counts from the end, as in slices of TensorFlow's")]
    pub fn loss(&mut self, g: &'g Graph, batch: Batch<'g>) -> Result<Loss<'g>> {
        // Time comes first, so that each step of the loop reads contiguous rows.
        let chars = batch.chars.transpose([1, 0]);
        let (before, next) = (chars.slice_axis(0, 0..-1), chars.slice_axis(0, 1..i32::MAX));
        let lengths = batch.lengths - 1;
        let inputs = self.embedding.value().gather(before);
        let (outputs, _) =
            g.dynamic_rnn(&mut self.cell, inputs).sequence_length(lengths).time_major(true).run()?;
        let units = self.cell.output_size() as i32;
        let logits = self.logits(outputs.reshape([-1, units]));
        let [each, _] = g.nn().sparse_softmax_cross_entropy_with_logits(logits, next.reshape([-1]));
        let time = g.array().shape(before).index(0);
        let counts = g.sequence_mask(lengths, Some(time.into()));
        let counts = counts.transpose([1, 0]).reshape([-1]).cast::<f32>();
        Ok(Loss {
            total: (each * counts).reduce_sum(()),
            characters: counts.reduce_sum(()),
            places: counts.size().cast::<f32>(),
        })
    }

    /// Samples lines from the model, as characters `[lines, time]`: a loop in the graph feeds each drawn
    /// character back, until every line has ended. A `temperature` below 1 favors probable characters.
    pub fn sample(&self, g: &'g Graph, lines: usize, longest: i32, temperature: f32) -> Result<Output<'g>> {
        let newline = i32::from(NEWLINE);
        let first = g.constant(Tensor::from_slice([lines], &vec![newline; lines])?);
        let over = first.not_equal(newline);
        let state = self.cell.zero_state(g, lines.into(), DType::F32)?;
        let drawn = TensorArray::of::<i32>(g, longest).element_shape(shape![lines]).build();
        let (.., drawn) = g.while_loop((g.constant(0), first, over, state, drawn)).name("sample").run(
            |(t, _, over, ..)| t.less(longest) & !g.reduce_all(over, ()),
            |(t, last, over, state, drawn)| -> Result<_> {
                let (output, state): (_, LstmState<'g>) =
                    self.cell.step(self.embedding.value().gather(last), state)?;
                let next =
                    g.random().multinomial(self.logits(output) / temperature, 1).cast::<i32>().reshape([-1]);
                let next = over.select(last, next);
                let over = over | next.equal(newline);
                Ok((t + 1, next, over, state, drawn.write(t, next)))
            },
        )?;
        Ok(drawn.stack().transpose([1, 0]))
    }
}
