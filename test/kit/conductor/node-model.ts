import { expect } from 'vitest'
import type { EffectBody, Job, EffectOutcome } from '../../../ironic-mock/conductor/core/effects.js'
import type { ConductorEvent, DeadlineKind } from '../../../ironic-mock/conductor/core/conductor-events.js'
import type { Reaction } from '../../../ironic-mock/conductor/core/node-task.js'
import type { ConductorConf } from '../../../ironic-mock/conductor/core/conductor-conf.js'
import { react } from '../../../ironic-mock/conductor/core/react.js'
import { STABLE_STATES, STUCK_STATES, TRANSITIONS } from '../../../ironic-mock/conductor/core/transitions.js'
import { makeNodeRecord } from '../../../ironic-mock/conductor/records/new-records.js'
import { chooseInterfaces, hardwareType } from '../../../ironic-mock/drivers/hardware-types.js'
import type { SystemReport } from '../../../ironic-mock/drivers/bmc-hardware.js'
import { IronicError, type CommandResult, type NodeRecord, type ProvisionState } from '../../../base/wire/index.js'
import type { Draw } from './draws.js'

// Walks check this hundreds of thousands of times; vitest's `expect`, and the text for a failure, cost more than a reaction.

function same(actual: unknown, wanted: unknown, why: () => string): void {
  if (!Object.is(actual, wanted)) expect(actual, why()).toBe(wanted)
}

function later(actual: number, than: number, why: () => string): void {
  if (!(actual > than)) expect(actual, why()).toBeGreaterThan(than)
}

function truthy(actual: unknown, why: () => string): void {
  if (!actual) expect(actual, why()).toBeTruthy()
}

function empty(actual: object, why: () => string): void {
  if (Object.keys(actual).length > 0) expect(actual, why()).toEqual({})
}

const INSTALL = { interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }
const STEPS = {
  none: [],
  known: [INSTALL],
  unknown: [{ ...INSTALL, step: 'nosuch' }],
  reserved: ['reboot', 'hold', 'wait'].map((step, index) => ({ ...INSTALL, step, priority: 90 - 15 * index })),
}
const INVENTORY = {
  inventory: { interfaces: [{ name: 'eth0', mac_address: '52:54:00:00:00:01' }], cpu: { architecture: 'x86_64' } },
}
const REPORT: SystemReport = {
  manufacturer: 'm',
  model: 'm',
  serial: 's',
  memoryMib: 1,
  bootMode: 'uefi',
  disks: [],
  cpu: { count: 1, architecture: 'x86_64', model: null },
  nics: [{ name: 'eth0', mac: '52:54:00:00:00:01', speedMbps: null }],
}
const failed = (state: ProvisionState): boolean => state.endsWith(' failed') || state === 'error'

/** A node and what it waits for, as reactions change it: every reaction is checked by the invariants. */
export class NodeModel {
  at = Date.UTC(2026, 0, 1)
  node: NodeRecord
  job: Job | null = null
  deadlines = new Map<DeadlineKind, number>()
  heartbeatWaits = false

  /** Asked for a change of power, which forgets the error of what failed before, as in Ironic. */
  forgiven = false

  constructor(
    driver: string,
    more: Partial<NodeRecord>,
    readonly conf: ConductorConf,
  ) {
    const type = hardwareType(driver, '')
    const fields = { driver, driver_info: { redfish_address: 'http://bmc' }, ...more }
    this.node = { ...makeNodeRecord(fields, chooseInterfaces(type, fields), '2026-01-01T00:00:00.000000', 'u'), id: 1 }
  }

  event(draw: Draw): ConductorEvent | undefined {
    const info = this.node.driver_internal_info
    switch (draw.draw) {
      case 'onward':
        return this.event(this.onward())
      case 'verb': {
        const steps = STEPS[draw.steps]
        const request = {
          target: draw.target,
          deploy_steps: steps,
          clean_steps: steps,
          service_steps: steps,
          rescue_password: 'p',
          hashed_rescue_password: 'h',
        }
        return { kind: 'verb', request, imageIsBootc: false }
      }
      case 'outcome':
        return this.job ? { kind: 'outcome', job: this.job, outcome: this.outcome(this.job.effect, draw) } : undefined
      case 'power':
        return { kind: 'power', target: draw.target, timeout: null }
      case 'power seen':
        return { kind: 'power-seen', seen: draw.seen, attempt: draw.attempt }
      case 'heartbeat': {
        const agent_token = String(info.agent_secret_token ?? '')
        return { kind: 'heartbeat', heartbeat: { callback_url: 'http://agent', agent_token, agent_version: '1' } }
      }
      case 'lookup':
        return { kind: 'lookup', token: 'a-token' }
      case 'inventory':
        return { kind: 'inventory', data: INVENTORY, token: null }
      case 'deadline': {
        const [kind, at] = [...this.deadlines][0] ?? []
        if (kind === undefined) return undefined
        this.at = Math.max(this.at, at ?? 0)
        return { kind: 'deadline', deadline: kind }
      }
      case 'restart':
        return { kind: 'restarted', job: this.job, goesOn: false }
      case 'maintenance':
      case 'out of maintenance':
        return { kind: 'maintenance', on: draw.draw === 'maintenance', reason: null }
    }
  }

  onward(): Draw {
    if (this.job) return { draw: 'outcome', luck: 1, choice: 0 }
    if (this.node.provision_state.endsWith(' hold')) return { draw: 'verb', target: 'unhold', steps: 'none' }
    const { provision_state: state, driver_internal_info: info } = this.node
    if (state === 'inspect wait') return { draw: 'inventory' }
    if (state.includes('wait')) return { draw: info.agent_secret_token === undefined ? 'lookup' : 'heartbeat' }
    if (this.node.maintenance) return { draw: 'out of maintenance' }
    const next: Partial<Record<ProvisionState, string>> = {
      enroll: 'manage',
      manageable: ['provide', 'provide', 'inspect', 'provide', 'clean', 'provide', 'adopt'][
        Math.floor(this.at / 1000) % 7
      ]!,
      'inspect failed': 'manage',
      'clean failed': 'manage',
      'adopt failed': 'manage',
      available: 'active',
      'deploy failed': 'active',
      active: ['deleted', 'service', 'rescue'][Math.floor(this.at / 1000) % 3]!,
      'service failed': Math.floor(this.at / 1000) % 2 === 0 ? 'abort' : 'service',
      'rescue failed': 'unrescue',
      'unrescue failed': 'unrescue',
      error: 'deleted',
      rescue: 'unrescue',
    }
    const steps = Math.floor(this.at / 1000) % 5 === 0 ? 'reserved' : 'known'
    return { draw: 'verb', target: next[state] ?? 'deleted', steps }
  }

  outcome(effect: EffectBody, { luck, choice }: { luck: number; choice: number }): EffectOutcome {
    const { kind } = effect
    const reasons = ['agent busy', 'agent unreachable', 'agent error', 'bmc', 'other'] as const
    if (luck < 0.15 && kind !== 'proceed' && kind !== 'inspection-facts')
      return { ok: false, kind, reason: reasons[choice % 5]!, error: 'no luck' }
    const result = (status: CommandResult['command_status']): CommandResult => {
      const state = this.node.provision_state
      const flow = state.startsWith('clean') ? 'clean' : state.startsWith('servic') ? 'service' : 'deploy'
      const step = this.node[`${flow}_step`]
      return {
        id: '1',
        command_name: `execute_${flow}_step`,
        command_status: status,
        command_error: status === 'FAILED' ? { type: 'X', code: 500, message: 'm', details: 'd' } : null,
        command_result: { [`${flow}_step`]: step },
      }
    }
    switch (kind) {
      case 'read-power':
        return { ok: true, kind, value: choice % 2 ? 'power on' : null }
      case 'power':
        return { ok: true, kind, value: effect.target.includes('off') ? 'power off' : 'power on' }
      case 'await-power-off':
        return { ok: true, kind, value: 'power off' }
      case 'inspection-facts':
        return { ok: true, kind, value: { taken: [], rules: [], before: null } }
      case 'bmc-system':
        return { ok: true, kind, value: { report: REPORT, taken: [], rules: [], before: null } }
      case 'api-call':
        return { ok: true, kind, value: null }
      case 'agent-steps': {
        const steps = [
          {
            ...INSTALL,
            interface: 'deploy' as const,
            priority: effect.of === 'clean' ? 10 : 0,
            argsinfo: {},
            reboot_requested: choice === 5,
          },
        ]
        return { ok: true, kind, value: { steps: { deploy: steps }, versions: {} } }
      }
      case 'agent-step':
        return { ok: true, kind, value: result('RUNNING') }
      case 'agent-commands': {
        const status = (['SUCCEEDED', 'SUCCEEDED', 'RUNNING', 'FAILED', 'CLEAN_VERSION_MISMATCH'] as const)[choice]
        if (!status) return { ok: true, kind, value: { names: [], last: null } }
        const last = result(status)
        return { ok: true, kind, value: { names: [last.command_name], last } }
      }
      case 'find-image':
        return { ok: true, kind, value: { url: effect.url, format: null, sha256: null } }
      case 'agent-partitions':
        return { ok: true, kind, value: {} }
      case 'agent-rescue':
        return { ok: true, kind, value: result('SUCCEEDED') }
      case 'refuse':
        return { ok: false, kind, reason: 'other', error: effect.error }
      case 'agent-bootloader':
      case 'agent-lockdown':
      case 'agent-sync':
      case 'bmc-change':
      case 'child-step':
      case 'hardware-report':
      case 'pause':
      case 'boot':
      case 'agent-power-off':
      case 'agent-logs':
      case 'proceed':
        return { ok: true, kind, value: null } as EffectOutcome
    }
  }

  situation() {
    const { node, at, conf } = this
    return { node, ports: [], at, host: 'h', conf, ironicUrl: 'http://i' }
  }

  apply(event: ConductorEvent): Reaction | IronicError {
    this.at += 1000
    const situation = this.situation()
    const before = JSON.stringify(this.node)
    let reaction: Reaction
    try {
      reaction = react(situation, event)
    } catch (error) {
      if (!(error instanceof IronicError)) throw error
      return error
    } finally {
      same(JSON.stringify(this.node), before, () => 'the situation is only read')
    }
    this.node = { ...this.node, ...reaction.patch }
    if (event.kind === 'power') this.forgiven = true
    else if (this.node.provision_state !== situation.node.provision_state) this.forgiven = false
    if (event.kind === 'outcome' || reaction.dropJobs) this.job = null
    if (reaction.job) {
      same(this.job, null, () => 'one piece of work at a time')
      this.job = reaction.job
    }
    for (const { kind, at } of reaction.deadlines) {
      if (at === null) this.deadlines.delete(kind as DeadlineKind)
      else this.deadlines.set(kind as DeadlineKind, at)
      if (at !== null) later(at, this.at, () => `${kind} lies in the future`)
    }
    this.heartbeatWaits = reaction.heartbeatWaits ?? this.heartbeatWaits
    return reaction
  }

  check(event: ConductorEvent, before: NodeRecord): void {
    const { node } = this
    const { provision_state: state } = node
    const what = () => `${JSON.stringify(event).slice(0, 200)} in ${before.provision_state} -> ${state}`
    same(node.reservation !== null, this.job !== null, () => `reserved exactly while there is work: ${what()}`)
    const expected =
      state.startsWith('clean') && node.target_provision_state === 'manageable'
        ? 'manageable'
        : TRANSITIONS[state].target
    same(node.target_provision_state, expected, what)
    if (failed(state) && !this.forgiven) truthy(node.last_error, () => `a failure says why: ${what()}`)
    if (node.fault !== null) same(node.maintenance, true, () => `a fault takes the node out of service: ${what()}`)
    if (before.fault === null && node.fault !== null) truthy(node.maintenance_reason, what)
    const began = event.kind === 'verb' && STUCK_STATES.includes(state) && state !== before.provision_state
    if (began) same(node.last_error, null, () => `a verb that begins work clears the error: ${what()}`)
    if (STUCK_STATES.includes(state)) same(this.job !== null, true, () => `something is going on: ${what()}`)
    const waiting = ['inspect wait', 'clean wait', 'wait call-back', 'service wait', 'rescue wait'].includes(state)
    same(this.deadlines.size, waiting ? 1 : 0, () => `a time limit exactly while waiting: ${what()}`)
    if (STABLE_STATES.includes(state) && this.job === null) empty(node.clean_step, what)
    // Undeploying a node that waits for its agent leaves it (recorded).
    if (state === 'active' && before.provision_state === 'deploying') empty(node.deploy_step, what)
    if (this.job === null && node.provision_state !== before.provision_state) same(node.target_power_state, null, what)
    this.checkThatTimeIsNeeded(what)
  }

  /** Nothing that the conductor does by itself brings about the same again in the same moment. */
  checkThatTimeIsNeeded(what: () => string): void {
    for (const [deadline, limit] of this.deadlines) {
      const at = Math.max(limit, this.at)
      const passed = react({ ...this.situation(), at }, { kind: 'deadline', deadline })
      for (const next of passed.deadlines)
        if (next.at !== null) later(next.at, at, () => `${next.kind} set when ${deadline} passed: ${what()}`)
    }
    const { deadlines, ...released } = react(this.situation(), { kind: 'released' })
    if (this.job === null) same(released.heartbeatWaits, false, () => `a free node takes its heartbeat up: ${what()}`)
    else if (deadlines.length > 0 || Object.keys(released.patch).length > 0 || released.job !== null)
      expect([deadlines, released.patch, released.job], `a reserved one is left alone: ${what()}`).toEqual([
        [],
        {},
        null,
      ])
  }
}
