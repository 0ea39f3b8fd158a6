//! [`machine_memory`]: the memory that this process may use.

use std::path::Path;

/// The bytes of memory that this process may use: those of the machine, or less if a control group (version 1
/// or 2) or a limit of the process's address space says so. 16 GiB where none of this is known.
pub fn machine_memory() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| meminfo(&text));
    let process = read("/proc/self/limits").and_then(|text| address_space(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let group = group_files(&groups).filter_map(|path| read(&path)).filter_map(|text| number(&text)).min();
    [machine, process, group].into_iter().flatten().min().unwrap_or(16 << 30)
}

/// A limit in a file of its own. `max`, or in version 1 a number close to 2^63, means that there is none.
fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 60)
}

/// The machine's memory by `/proc/meminfo`.
fn meminfo(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(1024)
}

/// The soft limit of the address space by `/proc/self/limits`.
fn address_space(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    number(line.split_whitespace().next()?)
}

/// The files that may hold a limit of the process's control groups, by `/proc/self/cgroup`: those of its own
/// groups, and of every group around them. In a container the group's own path is often not mounted, but the
/// root of what is mounted has the limit.
fn group_files(groups: &str) -> impl Iterator<Item = String> {
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            names if names.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let around = Path::new(path).ancestors().map(|group| group.to_string_lossy().into_owned());
        let around = around.map(move |group| format!("{root}/{}/{file}", group.trim_matches('/')));
        Some(around.map(|file| file.replace("//", "/")).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of).flatten().collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        assert_eq!(meminfo("MemTotal:       24597132 kB\nMemFree: 3 kB\n"), Some(24597132 * 1024));
        assert_eq!(number("max\n"), None);
        assert_eq!(number("9223372036854771712\n"), None);
        assert_eq!(number("1073741824\n"), Some(1 << 30));
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         4294967296           unlimited            bytes\n";
        assert_eq!(address_space(limits), Some(4 << 30));
        assert_eq!(address_space(&limits.replace("4294967296", "unlimited ")), None);
        assert!(machine_memory() > 1 << 20);
    }

    #[test]
    fn groups_of_both_versions_are_found() {
        let files = |text: &str| group_files(text).collect::<Vec<_>>();
        assert_eq!(
            files("0::/user.slice/a\n"),
            [
                "/sys/fs/cgroup/user.slice/a/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            files("5:cpu:/x\n4:hugetlb,memory:/docker/1\n0::/\n"),
            [
                "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert!(files("nonsense").is_empty());
    }
}
