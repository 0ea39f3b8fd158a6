"""A stand-in for `librosa`, which programs import for sound files that are not used here."""
