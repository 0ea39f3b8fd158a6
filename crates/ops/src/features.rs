//! The op types that are compiled in with a feature of this crate: [`feature_of`].
//!
//! A build without the feature has no declaration of them, but names the feature in its errors.

/// Of `tf-files`: checkpoints.
const TF_FILES: [&str; 7] =
    ["MergeV2Checkpoints", "Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2"];

/// Of `input`: readers, datasets and tables of files, parsing, regular expressions, images.
const INPUT: [&str; 86] = [
    "AdjustContrastv2",
    "AdjustHue",
    "AdjustSaturation",
    "CombinedNonMaxSuppression",
    "CropAndResize",
    "CropAndResizeGradBoxes",
    "CropAndResizeGradImage",
    "DecodeAndCropJpeg",
    "DecodeBmp",
    "DecodeCSV",
    "DecodeCompressed",
    "DecodeGif",
    "DecodeJSONExample",
    "DecodeJpeg",
    "DecodePng",
    "DeserializeManySparse",
    "DeserializeSparse",
    "DrawBoundingBoxes",
    "DrawBoundingBoxesV2",
    "EncodeJpeg",
    "EncodeJpegVariableQuality",
    "EncodePng",
    "ExtractGlimpse",
    "ExtractJpegShape",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "FixedLengthRecordReader",
    "FixedLengthRecordReaderV2",
    "FusedResizeAndPadConv2D",
    "HSVToRGB",
    "IdentityReader",
    "IdentityReaderV2",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "NonMaxSuppressionV5",
    "NonMaxSuppressionWithOverlaps",
    "ParseExample",
    "ParseSequenceExample",
    "ParseSingleExample",
    "ParseSingleSequenceExample",
    "ParseTensor",
    "RGBToHSV",
    "ReaderNumRecordsProduced",
    "ReaderNumRecordsProducedV2",
    "ReaderNumWorkUnitsCompleted",
    "ReaderNumWorkUnitsCompletedV2",
    "ReaderRead",
    "ReaderReadUpTo",
    "ReaderReadUpToV2",
    "ReaderReadV2",
    "ReaderReset",
    "ReaderResetV2",
    "ReaderRestoreState",
    "ReaderRestoreStateV2",
    "ReaderSerializeState",
    "ReaderSerializeStateV2",
    "RegexFullMatch",
    "RegexReplace",
    "ResizeArea",
    "ResizeBicubic",
    "ResizeBicubicGrad",
    "ResizeBilinear",
    "ResizeBilinearGrad",
    "ResizeNearestNeighbor",
    "ResizeNearestNeighborGrad",
    "SampleDistortedBoundingBox",
    "SampleDistortedBoundingBoxV2",
    "ScaleAndTranslate",
    "ScaleAndTranslateGrad",
    "SerializeManySparse",
    "SerializeSparse",
    "SerializeTensor",
    "StaticRegexFullMatch",
    "StaticRegexReplace",
    "TFRecordDataset",
    "TFRecordReader",
    "TFRecordReaderV2",
    "TextLineDataset",
    "TextLineReader",
    "TextLineReaderV2",
    "WholeFileReader",
    "WholeFileReaderV2",
];

/// Of `spectra`: singular values, eigenvalues, least squares and Fourier transforms.
const SPECTRA: [&str; 21] = [
    "AudioSpectrogram",
    "BatchMatrixSolveLs",
    "BatchSelfAdjointEig",
    "BatchSelfAdjointEigV2",
    "BatchSvd",
    "FFT",
    "FFT2D",
    "FFT3D",
    "IFFT",
    "IFFT2D",
    "IFFT3D",
    "IRFFT",
    "IRFFT2D",
    "IRFFT3D",
    "MatrixSolveLs",
    "RFFT",
    "RFFT2D",
    "RFFT3D",
    "SelfAdjointEig",
    "SelfAdjointEigV2",
    "Svd",
];

/// Of `summary`: reports to TensorBoard.
const SUMMARY: [&str; 8] = [
    "AudioSummary",
    "AudioSummaryV2",
    "HistogramSummary",
    "ImageSummary",
    "MergeSummary",
    "ScalarSummary",
    "TensorSummary",
    "TensorSummaryV2",
];

/// The feature that an op type takes, compiled in or not. `None`: it takes none, or the library lacks it.
pub fn feature_of(op: &str) -> Option<&'static str> {
    let lists: [(&str, &[&str]); 4] =
        [("input", &INPUT), ("spectra", &SPECTRA), ("summary", &SUMMARY), ("tf-files", &TF_FILES)];
    lists.into_iter().find(|(_, ops)| ops.contains(&op)).map(|(feature, _)| feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_there_with_their_features() {
        let on = [
            ("tf-files", cfg!(feature = "tf-files")),
            ("input", cfg!(feature = "input")),
            ("spectra", cfg!(feature = "spectra")),
            ("summary", cfg!(feature = "summary")),
        ];
        for op in TF_FILES.iter().chain(&INPUT).chain(&SPECTRA).chain(&SUMMARY) {
            let feature = feature_of(op).unwrap();
            let on = on.iter().any(|(name, on)| *name == feature && *on);
            assert_eq!(crate::registry().get(op).is_some(), on, "{op}");
        }
    }

    #[test]
    fn whole_families_are_in_the_lists() {
        let of = [("image", "input"), ("parsing", "input"), ("reader", "input"), ("summary", "summary")];
        for (family, defs) in crate::families() {
            let Some((_, feature)) = of.iter().find(|(name, _)| *name == family) else { continue };
            for def in defs {
                assert_eq!(feature_of(def.name), Some(*feature), "{}", def.name);
            }
        }
    }
}
