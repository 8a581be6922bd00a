import { sha256Hex } from '../../../base/bytes/index.js'
import type { Machine } from '../../../machine/index.js'
import { IDENTITY_SCRIPT } from '../../../targets/index.js'
import { runningSystemOf } from './rehearsed-system.js'

export interface ScriptAnswer {
  stdout: string
  stderr?: string
  code: number
}

/** Answers the scripts that are sent to a shell: those that ask a system who it is, and whether it is the installed one. */
export function answerScript(machine: Machine, script: string): ScriptAnswer {
  if (script === IDENTITY_SCRIPT.toString('utf8')) return printed('ironstage-identity', identityOf(machine))
  const nonce = /\(cat '(\/[\w./-]+)'/.exec(script)?.[1]
  if (script.includes('ironstage-boot') && nonce !== undefined) return printed('ironstage-boot', bootOf(machine, nonce))
  return { stdout: '', stderr: 'sh: this script runs on no simulated system\n', code: 127 }
}

const printed = (mark: string, facts: readonly (readonly [string, string])[]): ScriptAnswer => ({
  stdout: facts.map(([name, value]) => `\n${mark} ${name} ${value}\n`).join(''),
  code: 0,
})

/** A UUID of the hardware that stays the same over boots. */
const hardwareId = ({ spec }: Machine): string => {
  const hex = sha256Hex(`${spec.id} ${spec.serial}`)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

function identityOf(machine: Machine): [string, string][] {
  const boot = machine.boot()!
  const seed = runningSystemOf(machine) === 'live' ? boot.id : `installed ${machine.spec.id}`
  return [
    ['machine', sha256Hex(seed).slice(0, 32)],
    ['boot', boot.id],
    ['dmi', hardwareId(machine)],
    ['host', hostnameOf(machine)],
    ['uid', '0'],
  ]
}

export const hostnameOf = (machine: Machine): string =>
  (runningSystemOf(machine) === 'installed' ? machine.firstBoot()?.hostname : null) ?? 'localhost'

function bootOf(machine: Machine, nonce: string): [string, string][] {
  const first = machine.firstBoot()
  const name = first?.disk.replace(/^\/dev\//, '')
  const disk = machine.spec.disks.find((each) => each.name === name)
  const isInstalled = runningSystemOf(machine) === 'installed'
  return [
    ['nonce', isInstalled ? (machine.rootFiles()?.text(nonce) ?? '') : ''],
    ['hostname', hostnameOf(machine)],
    ['cmdline', (isInstalled ? first?.kernelArguments : [])?.join(' ') ?? ''],
    ['system', isInstalled ? 'CoreOS of a rehearsal' : 'live CoreOS of a rehearsal'],
    ['root', name === undefined || !isInstalled ? '' : `/dev/${name}4`],
    ...(disk && isInstalled
      ? [['disk', `NAME="${disk.name}" TYPE="disk" SERIAL="${disk.serial}" WWN="${disk.wwn}"`] as [string, string]]
      : []),
    ['end', 'yes'],
  ]
}
