/**
 * Which files with real peers may run side by side. A lane is a list of files that run one after another; lanes run at
 * the same time. What no lane names is in {@link SHARED_DISKS}.
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
    'disk-tools.test.ts',
    'disks-of-a-host.test.ts',
    'first-boot.test.ts',
    'ignition/**/*.test.ts',
    'iso-pxe.test.ts',
    'served-images.test.ts',
    'streams.test.ts',
  ],
}

/** Files that attach loop devices or let a real coreos-installer look at all disks of this host. */
export const SHARED_DISKS = 'disks'
