import { kernelCommandLine } from '../../ramdisk/ramdisk-tree.js'
import type { ProgramMachine, Process, MachineProgram } from '../machine-program.js'
import { defineTool, ToolExit, ToolFailure } from '../tool.js'
import { hasUnitFile, setStarted, unitState, type UnitState } from './unit-states.js'

const readFileText = (inside: ProgramMachine, path: string): string =>
  new TextDecoder().decode(inside.files.read(path)).trim()
const HOSTNAME = '/proc/sys/kernel/hostname'

/** Units of the live image. A file in the ramdisk marks a stopped one. */
const LIVE_UNITS = ['NetworkManager', 'chronyd', 'dbus', 'ironic-agent', 'sshd', 'systemd-journald', 'systemd-udevd']
const stopped = (unit: string) => `/run/systemd/stopped/${unit}`
const unitName = (name: string): string => name.replace(/\.service$/, '')
const isKnownUnit = (inside: ProgramMachine, unit: string): boolean =>
  LIVE_UNITS.includes(unit) || hasUnitFile(inside, unit)

/** Flushes the disks and asks for power off or reboot. */
async function goDown({ inside }: Process, action: 'power off' | 'reboot'): Promise<number> {
  for (const disk of inside.disks.values()) await disk.flush()
  inside.request(action)
  return 0
}

/** util-linux's eject, for the only optical drive. */
export const eject: MachineProgram = async ({ argv, inside, stderr }) => {
  const device = argv.slice(1).find((word) => !word.startsWith('-')) ?? 'cdrom'
  if (inside.eject && ['cdrom', '/dev/cdrom', 'sr0', '/dev/sr0'].includes(device)) {
    await inside.eject()
    return 0
  }
  stderr(`eject: unable to find or open device for: \`${device.replace(/^\/dev\//, '')}'\n`)
  return 1
}

export const poweroff: MachineProgram = (process) => goDown(process, 'power off')
export const reboot: MachineProgram = (process) => goDown(process, 'reboot')

export const systemctl = defineTool(
  'systemctl',
  { force: 'f', quiet: 'q', now: '', 'no-block': '', 'no-wall': '', 'no-pager': '', property: 'p=', value: '' },
  (process, options) => {
    const { inside, clock, stdout, stderr } = process
    const [verb, ...names] = options.rest
    const units = names.map(unitName)
    const missing = units.find((unit) => !isKnownUnit(inside, unit))
    const stateOf = (unit: string): UnitState => {
      if (hasUnitFile(inside, unit)) return unitState(inside, unit, clock.now())
      const active = LIVE_UNITS.includes(unit) && !inside.files.exists(stopped(unit))
      return { activeState: active ? 'active' : 'inactive', result: 'success' }
    }
    const isActive = (unit: string) => stateOf(unit).activeState === 'active'
    switch (verb) {
      case 'poweroff':
      case 'halt':
        return goDown(process, 'power off')
      case 'reboot':
        return goDown(process, 'reboot')
      case 'is-system-running':
        return stdout('running\n')
      case 'daemon-reload':
        return
      case 'is-active': {
        if (!options.has('quiet')) for (const unit of units) stdout(`${stateOf(unit).activeState}\n`)
        return units.some(isActive) ? 0 : 3
      }
      case 'show': {
        const wanted = options.value('property')?.split(',')
        for (const unit of units) {
          const { activeState, result } = stateOf(unit)
          const properties = { Id: `${unit}.service`, LoadState: isKnownUnit(inside, unit) ? 'loaded' : 'not-found' }
          for (const [name, value] of Object.entries({ ...properties, ActiveState: activeState, Result: result }))
            if (!wanted || wanted.includes(name)) stdout(options.has('value') ? `${value}\n` : `${name}=${value}\n`)
        }
        return
      }
      case 'start':
      case 'restart':
      case 'stop':
        if (missing !== undefined) {
          stderr(
            `Failed to ${verb} ${missing}.service: Unit ${missing}.service not ${verb === 'stop' ? 'loaded' : 'found'}.\n`,
          )
          throw new ToolExit(5)
        }
        for (const unit of units) {
          if (hasUnitFile(inside, unit)) setStarted(inside, unit, verb === 'stop' ? null : clock.now())
          else if (verb === 'stop') inside.files.write(stopped(unit), new Uint8Array())
          else if (!isActive(unit)) inside.files.remove(stopped(unit))
        }
        return
      default:
        stderr(`Unknown command verb '${verb ?? ''}'.\n`)
        return 1
    }
  },
)

export const sync: MachineProgram = async ({ inside }) => {
  for (const disk of inside.disks.values()) await disk.flush()
  return 0
}

export const hostname = defineTool('hostname', { short: 's', fqdn: 'f', all: 'A' }, ({ inside, stdout }, { rest }) => {
  if (rest[0] !== undefined) inside.files.write(HOSTNAME, Buffer.from(`${rest[0]}\n`))
  else stdout(`${readFileText(inside, HOSTNAME)}\n`)
})

export const hostnamectl = defineTool(
  'hostnamectl',
  { static: '', transient: '', pretty: '' },
  ({ inside, stdout }, options) => {
    const [verb = 'status', name] = options.rest
    switch (verb) {
      case 'set-hostname':
      case 'hostname': {
        if (name === undefined) return stdout(`${readFileText(inside, HOSTNAME)}\n`)
        const isChosen = options.has('static') || options.has('transient')
        if (options.has('static') || !isChosen) inside.files.write('/etc/hostname', Buffer.from(`${name}\n`))
        if (options.has('transient') || !isChosen) inside.files.write(HOSTNAME, Buffer.from(`${name}\n`))
        return
      }
      case 'status':
        return stdout(
          [
            ` Static hostname: ${readFileText(inside, '/etc/hostname')}`,
            `      Machine ID: ${readFileText(inside, '/etc/machine-id')}`,
            `         Boot ID: ${inside.boot.id.replaceAll('-', '')}`,
            'Operating System: Fedora CoreOS (simulated live image)',
            `    Architecture: ${inside.spec.architecture === 'x86_64' ? 'x86-64' : 'arm64'}`,
            ` Hardware Vendor: ${inside.spec.manufacturer}`,
            `  Hardware Model: ${inside.spec.product}`,
          ]
            .map((line) => `${line}\n`)
            .join(''),
        )
      default:
        throw new ToolFailure(`Unknown command verb '${verb}'.`)
    }
  },
)

/** The first lines of the kernel and systemd; times are since boot, as `-o short-monotonic` prints them. */
export const journalctl = defineTool(
  'journalctl',
  { boot: 'b', unit: 'u=', output: 'o=', lines: 'n=', root: '=', full: 'l', 'no-pager': '', since: '=', dmesg: 'k' },
  ({ inside, stdout }, options) => {
    const host = readFileText(inside, HOSTNAME)
    const { spec } = inside
    const lines: [unit: string, line: string][] = [
      ['kernel', `Command line: ${kernelCommandLine(spec, inside.boot)}`],
      ['kernel', `DMI: ${spec.manufacturer} ${spec.product}`],
      ...spec.disks.map((disk): [string, string] => [
        'kernel',
        `${disk.name}: ${disk.size / disk.sectorSize} ${disk.sectorSize}-byte logical blocks`,
      ]),
      ...spec.nics.map((nic): [string, string] => [
        'NetworkManager',
        `device (${nic.name}): carrier: ${nic.carrier ? 'link connected' : 'no link'}`,
      ]),
      ['systemd', `Hostname set to <${host}>.`],
    ]
    const unit = options.value('unit')
    const wanted = options.has('dmesg') ? 'kernel' : unit === undefined ? undefined : unitName(unit)
    const shown = lines.filter(([from]) => wanted === undefined || from === wanted)
    if (shown.length === 0) return stdout('-- No entries --\n')
    for (const [from, line] of shown.slice(-Number(options.value('lines') ?? shown.length)))
      stdout(`[    0.000000] ${host} ${from}: ${line}\n`)
  },
)

export const uname = defineTool(
  'uname',
  {
    all: 'a',
    machine: 'm',
    processor: 'p',
    'kernel-name': 's',
    nodename: 'n',
    'kernel-release': 'r',
    'kernel-version': 'v',
    'operating-system': 'o',
  },
  ({ inside, stdout }, options) => {
    const parts: [string, string][] = [
      ['kernel-name', 'Linux'],
      ['nodename', readFileText(inside, HOSTNAME)],
      ['kernel-release', `6.12.0-simulated.${inside.spec.architecture}`],
      ['kernel-version', '#1 SMP PREEMPT_DYNAMIC'],
      ['machine', inside.spec.architecture],
      ['processor', inside.spec.architecture],
      ['operating-system', 'GNU/Linux'],
    ]
    const all = options.has('all')
    const asked = parts.filter(([name]) => (all && name !== 'processor') || options.has(name))
    stdout(`${(asked.length === 0 ? parts.slice(0, 1) : asked).map(([, value]) => value).join(' ')}\n`)
  },
)

/** Waits on the machine's clock. */
export const sleep: MachineProgram = async ({ argv, clock, signal, stderr }) => {
  const seconds = Number(/^(\d+(?:\.\d+)?)s?$/.exec(argv[1] ?? '')?.[1] ?? NaN)
  if (Number.isNaN(seconds)) {
    stderr(`sleep: invalid time interval '${argv[1] ?? ''}'\n`)
    return 1
  }
  await clock.sleep(seconds * 1000, { signal })
  return 0
}

export const echo: MachineProgram = async ({ argv, stdout }) => {
  const bare = argv[1] === '-n'
  stdout(argv.slice(bare ? 2 : 1).join(' ') + (bare ? '' : '\n'))
  return 0
}

export const succeed: MachineProgram = () => Promise.resolve(0)
export const fail: MachineProgram = () => Promise.resolve(1)
