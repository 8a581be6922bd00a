/**
 * Which files with real peers may run side by side. A lane is a list of files that run one after another; lanes run at
 * the same time. What no lane names is in {@link TARGETS}.
 */
export const LANES: Readonly<Record<string, readonly string[]>> = {
  /** A real Ironic or a real agent each, on ports and in namespaces of their own. */
  conductors: [
    'command-line.test.ts',
    'conductor.test.ts',
    'differential/**/*.test.ts',
    'direct.test.ts',
    'flows.test.ts',
    'ipa.test.ts',
    'side-by-side.test.ts',
  ],
  /** Programs that only see files of their own, or a port: clients, Ignition, tools, a kernel of its own. */
  programs: [
    'clients/**/*.test.ts',
    'closing-server.test.ts',
    'disk-tools.test.ts',
    'disks-of-a-host.test.ts',
    'first-boot.test.ts',
    'ignition/**/*.test.ts',
    'mutated-images.test.ts',
    'published-package.test.ts',
  ],
  /** The real coreos-installer. It looks at all disks of this host, so its files are never side by side. */
  installer: [
    'coreos-installer.test.ts',
    'image-cache.test.ts',
    'iso-pxe.test.ts',
    'reach.test.ts',
    'served-images.test.ts',
    'streams.test.ts',
  ],
}

/** Files that work on disks of this host, loop devices, as a target: the ones of a lane never meet each other's faults. */
export const TARGETS = 'targets'
