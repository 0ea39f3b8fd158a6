"""Sound: WAV files, spectrograms, and their mel-frequency coefficients."""

import numpy as np

from programs.tools import caught, inside, run


def _wave(samples=400, channels=1):
    t = np.arange(samples * channels).reshape(samples, channels)
    return (0.5 * np.sin(t * 0.3) + 0.3 * np.sin(t * 1.1 + 0.5)).astype(np.float32)


def files(tf):
    """Files that are written and read again, cut, and filled up."""
    one, two = tf.audio.encode_wav(_wave(9), 16000), tf.audio.encode_wav(_wave(5, 2) * 3.0, 44100)
    read = [
        *tf.audio.decode_wav(one),
        *tf.audio.decode_wav(two),
        *tf.audio.decode_wav(two, desired_channels=1),
        *tf.audio.decode_wav(one, desired_channels=2, desired_samples=4),
        *tf.audio.decode_wav(two, desired_channels=3, desired_samples=7),
    ]
    return run(tf, [one, two, *read]), [t.shape for t in read]


def spectrograms(tf):
    spectrogram = inside("contrib.framework.python.ops.audio_ops").audio_spectrogram
    wave = _wave()
    kinds = [(480 // 4, 40, False), (64, 64, True), (5, 3, False), (400, 1, True), (401, 1, True)]
    made = [spectrogram(input=wave, window_size=window, stride=stride, magnitude_squared=squared) for window, stride, squared in kinds]
    return run(tf, made), [t.shape for t in made], [t.op.type for t in made]


def coefficients(tf):
    spectrogram = tf.raw_ops.AudioSpectrogram(input=_wave(), window_size=128, stride=64, magnitude_squared=True)
    mfcc = tf.raw_ops.Mfcc
    made = [
        mfcc(spectrogram=spectrogram, sample_rate=16000),
        mfcc(
            spectrogram=spectrogram, sample_rate=8000, upper_frequency_limit=3000.0, lower_frequency_limit=100.0,
            filterbank_channel_count=20, dct_coefficient_count=20,
        ),
        mfcc(spectrogram=spectrogram, sample_rate=8000, upper_frequency_limit=9000.0),
        mfcc(spectrogram=tf.zeros([1, 1, 5]), sample_rate=8000, filterbank_channel_count=3, dct_coefficient_count=2),
    ]
    return run(tf, made), [t.shape for t in made]


def wrong(tf):
    file = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0"
    data = b"data\4\0\0\0\0\0\xff\x7f"
    read = lambda contents: caught(lambda: run(tf, tf.audio.decode_wav(contents)[0]))[:1]
    wave, raw = _wave(9), tf.raw_ops
    return (
        run(tf, tf.audio.decode_wav(file + data)),
        [read(c) for c in (b"", b"RIFX", file, file + data + data, file + data[:-1], file.replace(b"\1\0\1\0", b"\3\0\1\0") + data)],
        caught(lambda: tf.audio.decode_wav([file])),
        caught(lambda: tf.audio.decode_wav(file, desired_channels=-2), "channels must be non-negative, got -2"),
        caught(lambda: run(tf, tf.audio.encode_wav(wave, 0)), "sample_rate must be in"),
        caught(lambda: run(tf, tf.audio.encode_wav(wave[:0], 8000)), "audio is null"),
        caught(lambda: run(tf, raw.AudioSpectrogram(input=wave, window_size=1, stride=1)), "Spectrogram initialization failed for window size 1 and stride 1"),
        caught(lambda: run(tf, raw.Mfcc(spectrogram=tf.zeros([1, 1, 5]), sample_rate=0)), "Mfcc initialization failed for channel count 5 and sample rate 0"),
        caught(lambda: run(tf, raw.Mfcc(spectrogram=tf.zeros([1, 1, 5]), sample_rate=8000, dct_coefficient_count=50)), "Mfcc initialization failed"),
    )
