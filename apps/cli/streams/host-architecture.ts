const ARCHITECTURE_NAMES: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'x86_64',
  arm64: 'aarch64',
  ppc64: 'ppc64le',
}

/** This host's architecture as CoreOS names it. */
export const hostArchitecture = (): string => ARCHITECTURE_NAMES[process.arch] ?? process.arch
