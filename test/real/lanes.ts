/**
 * Which files with real peers may run side by side. A lane is a folder of `test/real`: its files run one after another,
 * and lanes run at the same time. The longest come first: there are more lanes than run at once.
 */
export const LANES = [
  // A real Ironic or a real agent each, on ports and in namespaces of their own.
  'conductors',
  // Disks of this host, loop devices, as a target.
  'targets',
  // Programs that see only files of their own, or a port: clients, Ignition, tools, a kernel of its own.
  'programs',
  // Fleets of machines, whose BMCs a real Ironic drives: each file has one of its own.
  'fleets',
  // The real coreos-installer. It looks at all disks of this host, so its files are never side by side.
  'installer',
  // PostgreSQL, with servers of its own in each file: the processes that share it.
  'database',
  // The built command as a process: ended at any moment, at odd speeds, under a storm of calls; beside a registry.
  'commands',
] as const

/** Measurements, of wall or processor time: this lane runs alone, after the others. */
export const MEASURED_LANE = 'measurements'
