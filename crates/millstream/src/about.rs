//! What this build is: its version, its features, and the processor that it runs on.

/// The version of the engine, its features, and the processor as the engine sees it, a line each.
///
/// ```
/// assert!(millstream::about().starts_with(env!("CARGO_PKG_VERSION")));
/// ```
pub fn about() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let features = [
        (cfg!(feature = "jit"), "jit (loops become machine code)"),
        (cfg!(feature = "arrays"), "arrays"),
        (cfg!(feature = "avx512"), "avx512"),
        (cfg!(feature = "tf-files"), "tf-files"),
        (cfg!(feature = "input"), "input"),
        (cfg!(feature = "spectra"), "spectra"),
        (cfg!(feature = "summary"), "summary"),
        (cfg!(feature = "store"), "store"),
        (cfg!(feature = "store-tls"), "store-tls"),
        (cfg!(feature = "mpi"), "mpi"),
    ];
    let on: Vec<&str> = features.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
    let features = if on.is_empty() { "none".to_owned() } else { on.join(", ") };
    let build = if cfg!(debug_assertions) { ", not optimized" } else { "" };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    format!(
        "{version}\nfeatures: {features}{build}\nprocessor: {arch}, {cores} cores, {}\nsystem: {os}",
        vectors()
    )
}

/// The widest vector instructions of the processor.
fn vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return "AVX2 with FMA";
        }
        "SSE2"
    }
    #[cfg(target_arch = "aarch64")]
    {
        "NEON"
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        "no vectors"
    }
}
