import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock, systemRandom, type LogLevel } from '../../base/runtime/index.js'
import { localShell } from '../supervised/local-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { cellText } from './cell-script.js'
import { describeConfinement, foreseeConfinement, PROBE_FUNCTIONS } from './confinement.js'
import { policyFunctions } from './device-policy.js'
import type { FilterLoader } from './filter-loader.js'
import { READ_ONLY_NEEDS } from './needs.js'

const SHELLS = [['/bin/sh'], ['/bin/bash'], ['/usr/bin/busybox', 'sh']].filter(([path]) => existsSync(path!))
const clock = systemClock()

let place: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-confinement-'))
})
afterEach(() => rm(place, { recursive: true, force: true }))

async function program(name: string, text: string): Promise<void> {
  await writeFile(join(place, name), `#!/bin/sh\n${text}\n`)
  await chmod(join(place, name), 0o755)
}

describe('findConfinement', () => {
  const logged: [LogLevel, string][] = []
  async function found(unguarded: boolean | 'never', readOnly = false) {
    const shell = localShell(clock, { HOME: place, PATH: `${place}:${process.env['PATH']}` })
    await using host = new SupervisedExecutor({ shell, clock, random: systemRandom, folder: join(place, 'runs') })
    logged.length = 0
    const logger = (level: LogLevel, message: string) => void logged.push([level, message])
    const { confinement, refusal } = await foreseeConfinement({ host, name: 'lab-7', unguarded, logger }, readOnly)
    return refusal?.code ?? confinement
  }

  test('refuses a target that cannot confine commands, unless that was allowed', async () => {
    await program('id', '[ "$1" != -u ] || echo 1000')
    await expect(found(false)).rejects.toMatchObject({
      code: 'unguarded',
      message: 'lab-7 cannot confine commands to the named disk: commands do not run as root there',
      remedy: expect.stringContaining('--allow unguarded'),
    })
    await expect(found('never')).rejects.toMatchObject({
      code: 'unguarded',
      remedy: expect.stringMatching(/^((?!--allow).)*writes a disk only in a cell, .* coreos-installer install FILE$/),
    })
    expect(await found(false, true)).toBe('unguarded')
    expect(logged).toEqual([])
    expect(await found(true)).toBeNull()
    expect(logged).toEqual([
      ['warn', 'commands on lab-7 run unconfined (--allow unguarded): commands do not run as root there'],
    ])
  })

  test('refuses a kernel that makes no namespaces, with the message of unshare', async () => {
    await program('id', 'echo 0')
    await program('unshare', "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
    await expect(found(false)).rejects.toThrow('its kernel makes no namespaces (Operation not permitted)')
  })

  test('is described for reports', () => {
    const filtering = { processor: 'x86_64', loader: 'perl' } as const
    expect(describeConfinement({ devices: 'systemd', filtering })).toBe(
      'namespaces and capabilities; devices by a scope of systemd with a closed device policy; ' +
        'system calls by a filter that perl loads',
    )
    expect(describeConfinement({ devices: 'none', filtering: null })).toBe(
      'namespaces and capabilities; devices by a private /dev alone; ' +
        'system calls are not filtered, so services of the machine can be reached',
    )
    expect(describeConfinement(null)).toBe('none: only the command lines are checked')
  })
})

describe('a device policy of systemd', () => {
  test('is a scope that names each device by its number, and follows devices that come and go', async () => {
    await program('systemctl', `printf '%s|' "$@" >>${place}/calls; echo >>${place}/calls`)
    const script = `d=/run/ironstage/run-1
${policyFunctions('systemd')}
policy_open rw 'loop0:7:0 loop0p1:259:3'
policy_character 10:5
printf '%s\\n' "$policy_words"
policy_devices rw 'loop0:7:0 loop0p1:259:4'
cat ${place}/calls; rm ${place}/calls`
    for (const [shell, ...more] of SHELLS) {
      const env = { HOME: place, PATH: `${place}:${process.env['PATH']}` }
      const { stdout, stderr } = spawnSync(shell!, [...more, '-c', script], { encoding: 'utf8', env })
      expect(stderr).toBe('')
      expect(stdout.split('\n')).toEqual([
        'systemd-run',
        '--quiet',
        '--scope',
        '--collect',
        '--description=command of ironstage, confined',
        '--unit=ironstage-cell-run-1.scope',
        '--property=DevicePolicy=closed',
        '--property=DeviceAllow=/dev/block/7:0 rwm',
        '--property=DeviceAllow=/dev/block/259:3 rwm',
        '--property=DeviceAllow=/dev/char/10:5 rwm',
        // All at once, with the reset: no device that stays is denied for a moment.
        'set-property|--runtime|ironstage-cell-run-1.scope|DeviceAllow=|DeviceAllow=/dev/block/7:0 rwm|' +
          'DeviceAllow=/dev/block/259:4 rwm|DeviceAllow=/dev/char/10:5 rwm|',
        '',
      ])
    }
  })
})

describe('the probe of a scope of systemd', () => {
  const RUN = 'while [ "$1" != sh ]; do shift; done; exec "$@"'
  const REMOVE = 'rm -f "$HOME/device"'
  test.each([
    ['a scope that denies the device confines', `${REMOVE}; ${RUN}`, { isThere: true, confines: true }],
    ['a scope in which the device opens does not', RUN, { isThere: true, confines: false }],
    ['systemd-run that makes no scope does not', 'exit 1', { isThere: true, confines: false }],
    ['a device that opens nowhere shows nothing', `${REMOVE}; ${RUN}`, { isThere: false, confines: false }],
  ])('%s', async (_, systemdRun, { isThere, confines }) => {
    await program('systemd-run', systemdRun)
    for (const [shell, ...more] of SHELLS) {
      await program('sh', `exec ${[shell, ...more].join(' ')} "$@"`)
      if (isThere) await writeFile(join(place, 'device'), '')
      const env = { HOME: place, PATH: `${place}:${process.env['PATH']}` }
      const script = `${PROBE_FUNCTIONS} systemd_denies "$HOME/device"`
      const { status, stderr } = spawnSync(shell!, [...more, '-c', script], { encoding: 'utf8', env })
      expect([shell, stderr, status === 0]).toEqual([shell, '', confines])
    }
  })
})

describe('the script of a cell', () => {
  const text = (needs: Partial<typeof READ_ONLY_NEEDS>, { root = '', loader = null as FilterLoader | null } = {}) =>
    cellText({
      policy: 'none',
      filtering: loader === null ? null : { processor: 'x86_64', loader },
      needs: { ...READ_ONLY_NEEDS, ...needs },
      resolve: '',
      root,
      links: false,
    })
  /** The text that the first process of the cell runs. */
  const setup = (open: string): string =>
    spawnSync('sh', ['-c', `${open.slice(open.indexOf('cell_text='))}\nprintf %s "$cell_text"`], { encoding: 'utf8' })
      .stdout

  test.each([
    ['', null],
    ['/mnt/coreos', null],
    ['', 'setpriv'],
    ['', 'perl'],
    ['', 'bwrap'],
    ['/mnt/coreos', 'python3'],
  ] as const)('is valid in every shell, with the tree in %j and a filter that %s loads', (root, loader) => {
    const needs = { partitions: true, network: true, devices: ['ipmi[0-9]'] }
    const { open, watch, close } = text(needs, { root, loader })
    expect(setup(open)).toMatch(/\nexec unshare --cgroup .*\bsetpriv\b/)
    for (const [shell, ...more] of SHELLS)
      for (const part of [open, setup(open), watch, close]) {
        const { stderr, status } = spawnSync(shell!, [...more, '-n'], { encoding: 'utf8', input: part })
        expect([stderr, status]).toEqual(['', 0])
      }
  })

  test.each(['', '/mnt/coreos'])(
    'builds the cell with text that is valid in every shell, with the tree in %j',
    (root) => {
      for (const [shell, ...more] of SHELLS)
        for (const needs of [{}, { partitions: true, network: true, writesDisk: true }, { files: true }]) {
          const { open } = text(needs, { root })
          const setup = open.slice(open.indexOf('cell_text='))
          const script = `${setup}\nprintf '%s\\n' "$cell_text" | ${[shell, ...more].join(' ')} -n`
          const { stderr, status } = spawnSync(shell!, [...more, '-c', script], { encoding: 'utf8' })
          expect([stderr, status]).toEqual(['', 0])
        }
    },
  )

  test('covers sockets up by name only where no filter denies them, and for a command that needs some', () => {
    const covers = ({ open }: { open: string }) => open.includes('/proc/net/unix')
    expect(covers(text({}))).toBe(true)
    expect(covers(text({}, { loader: 'perl' }))).toBe(false)
    expect(covers(text({ unixSockets: true }, { loader: 'perl' }))).toBe(true)
    expect(covers(text({ files: true }, { loader: 'perl' }))).toBe(true)
  })

  test('filters nothing on a target that is disposable', () => {
    expect(text({}, { loader: 'perl' }).open).toContain('perl')
    expect(text({ files: true }, { loader: 'perl' }).open).not.toContain('perl')
  })

  test('has what is mounted read-only for a command that only reads', () => {
    expect(text({}).open).toContain('own_mounts "$own/mnt" ro')
    expect(text({ writesDisk: true }).open).toContain('own_mounts "$own/mnt" rw')
  })

  test('has only the capabilities that the command needs, and the network only on request', () => {
    const least = text({}).open
    expect(least).toContain('--bounding-set=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid ')
    expect(least).toContain('--net setpriv')
    expect(least).toContain('policy_open r ')
    const most = text({ capabilities: ['sys_admin'], network: true, writesDisk: true }).open
    expect(most).toContain('+setuid,+sys_admin ')
    expect(most).not.toContain('--net setpriv')
    expect(most).toContain('policy_open rw ')
  })
})
