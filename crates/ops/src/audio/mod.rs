//! Sound: WAV files, spectrograms, and the coefficients that recognizers of speech start from.

ops! {
    #[cfg(feature = "spectra")]
    audio_spectrogram,
    decode_wav,
    encode_wav,
    mfcc,
}
