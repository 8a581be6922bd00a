import { Devices } from '../../machine/ignition/devices.js'
import { runIgnition } from '../../machine/ignition/run-ignition.js'
import { baseRoot } from '../../machine/root/base-root.js'
import { recordsOf, type RootRecord } from '../../machine/root/root-records.js'
import { newFile, type RootTree } from '../../machine/root/root-tree.js'
import { Probe, systemClock } from '../../base/runtime/index.js'

/** The root filesystem before and after Ignition, and its journal as `[severity]: message`. */
export interface IgnitionRunResult {
  base: ReadonlyMap<string, RootRecord>
  tree: ReadonlyMap<string, RootRecord>
  failed: boolean
  journal: readonly string[]
}

/**
 * A root filesystem that has all of its accounts in /etc. The real programs are compared on this one: where they run there
 * is no nss-altfiles, which finds those of CoreOS in /usr/lib.
 */
export function plainRoot(): RootTree {
  const tree = baseRoot('fcos')
  const groups = [
    'root:0',
    'bin:1',
    'adm:4',
    'wheel:10',
    'mail:12',
    'sudo:16',
    'users:100',
    'systemd-journal:190',
    'nobody:65534',
  ]
  const names = groups.map((group) => group.split(':')[0])
  const put = (path: string, mode: number, lines: string[]) =>
    tree.put(path, newFile(Buffer.from(lines.map((line) => `${line}\n`).join('')), { mode }))
  put('/etc/passwd', 0o644, [
    'root:x:0:0:root:/root:/bin/bash',
    'bin:x:1:1:bin:/bin:/usr/sbin/nologin',
    'nobody:x:65534:65534:Kernel Overflow User:/:/usr/sbin/nologin',
  ])
  put(
    '/etc/shadow',
    0o000,
    ['root', 'bin', 'nobody'].map((name) => `${name}:*:18367:0:99999:7:::`),
  )
  put(
    '/etc/group',
    0o644,
    groups.map((group) => `${group.replace(':', ':x:')}:`),
  )
  put(
    '/etc/gshadow',
    0o000,
    names.map((name) => `${name}:::`),
  )
  put('/etc/nsswitch.conf', 0o644, ['passwd: files', 'group: files', 'shadow: files'])
  return tree
}

/** The simulated machine's Ignition on a fresh root filesystem. */
export async function runOurs(config: string, version = 'unknown', tree = plainRoot()): Promise<IgnitionRunResult> {
  const journal: string[] = []
  const base = recordsOf(tree)
  const { failure } = await runIgnition({
    machine: 'm1',
    bootId: 'boot',
    tree,
    version,
    clock: systemClock(),
    probe: new Probe(),
    source: { from: 'system', bytes: Buffer.from(config) },
    signal: new AbortController().signal,
    devices: () => Promise.resolve(new Devices()),
    editKernelArguments: () => Promise.resolve(false),
    print: (stage, priority, message) => {
      const label = priority === 'crit' ? 'critical' : priority === 'err' ? 'error' : priority
      if (stage !== null) journal.push(`${label.toUpperCase().padEnd(9)}: ${message}`)
    },
  })
  return { base, tree: recordsOf(tree), failed: failure !== null, journal }
}

/** Where configs are, and what only the journal itself is told, differ between a test and a machine. */
const CHANCE = [
  /compiled without relabeling|parsing config with SHA512|no config (dir )?at|system config file/,
  /: fetched (referenced )?(base|user) config|wrote ssh authorized keys file/,
]

/** The part that must be the same in two runs on the same tree: changed paths and the journal, without dates. */
export function comparable({ base, tree, failed, journal }: IgnitionRunResult) {
  const changed = [...tree]
    .filter(([path, record]) => JSON.stringify(base.get(path)) !== JSON.stringify(record))
    .map(([path, record]) => [path, shown(path, record)] as const)
  const gone = [...base.keys()].filter((path) => !tree.has(path)).map((path) => [path, 'gone'] as const)
  return {
    failed,
    changed: Object.fromEntries([...changed, ...gone]),
    journal: journal.filter((line) => !CHANCE.some((chance) => chance.test(line))),
  }
}

function shown(path: string, record: RootRecord): string {
  switch (record.kind) {
    case 'hard':
      return `another name of ${record.to}`
    case 'link':
      return `${record.uid}:${record.gid} -> ${record.target}`
    case 'directory':
      return `${record.mode.toString(8)} ${record.uid}:${record.gid}`
    case 'file': {
      const text = Buffer.from(record.base64, 'base64').toString()
      const dateless = /^\/etc\/shadow-?$/.test(path)
        ? text.replace(/^([^:]*:[^:]*):\d{5}:/gm, '$1:DAY:')
        : text.replace(/("provisioning\w+": ").*?"/g, '$1"')
      return `${record.mode.toString(8)} ${record.uid}:${record.gid} ${dateless}`
    }
  }
}
