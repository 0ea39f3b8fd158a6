//! Random ops, which draw from TensorFlow's Philox streams.

mod candidates;
mod categories;
mod fill;
mod per_output;
#[cfg(test)]
mod tests;

ops! {
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    multinomial,
    parameterized_truncated_normal,
    random_gamma,
    random_gamma_grad,
    random_poisson,
    random_shuffle,
    random_standard_normal,
    random_uniform,
    random_uniform_int,
    stateful_random,
    stateless_multinomial,
    stateless_random_get_alg,
    stateless_random_get_key_counter,
    stateless_random_normal,
    stateless_random_normal_v2,
    stateless_random_uniform,
    stateless_random_uniform_full_int,
    stateless_random_uniform_full_int_v2,
    stateless_random_uniform_int,
    stateless_random_uniform_int_v2,
    stateless_random_uniform_v2,
    stateless_truncated_normal,
    stateless_truncated_normal_v2,
    truncated_normal,
    uniform_candidate_sampler,
}
