import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { howMany } from '../../../test/kit/how-many.js'
import { seededRandom } from '../../../base/runtime/index.js'
import { IronicError, type JsonObject, type NodeRecord, type ProvisionState } from '../../../base/wire/index.js'

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'ironstage-kill-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const STEP = { interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }

/** Next verb on the path to a deployed machine, as BareMetal Operator chooses it. */
function nextVerb({ provision_state, reservation }: NodeRecord): { target: string; more?: JsonObject } | undefined {
  if (reservation !== null) return undefined
  const next: Partial<Record<ProvisionState, string>> = {
    enroll: 'manage',
    'inspect failed': 'inspect',
    'clean failed': 'manage',
    available: 'active',
    'deploy failed': 'active',
    error: 'deleted',
  }
  const target = next[provision_state]
  return target === 'active' ? { target, more: { deploy_steps: [STEP] } } : target ? { target } : undefined
}

const WAITING: ProvisionState[] = ['inspect wait', 'clean wait', 'wait call-back']

describe.each([1, 2, 3, 4].slice(0, howMany(2, 4)))('sixty kills (seed %i)', (seed) => {
  test('lose no answered change, leave no reservation and end with active nodes', async () => {
    const random = seededRandom(seed)
    const path = join(folder, `${seed}.db`)
    const lab = await ScriptedLab.open({ path, seed })
    const nodes = await Promise.all(
      [1, 2, 3].map((n) => lab.enroll({ automated_clean: true, name: `n${n}` }, `52:54:00:00:00:0${n}`)),
    )
    // Last change of each node that the conductor answered.
    const answered = new Map<string, JsonObject>()
    const inspected = new Set<string>()

    let kills = 0
    for (let round = 0; round < 400; round++) {
      const records = await Promise.all(nodes.map(({ uuid }) => lab.node(uuid)))
      if (records.every((node) => node.provision_state === 'active' && node.reservation === null)) {
        if (kills === 60) break
        for (const { uuid } of nodes) await lab.conductor.provision(uuid, { target: 'deleted' })
      }
      for (const node of records) {
        if (node.provision_state === 'manageable' && node.reservation === null) {
          const target = inspected.has(node.uuid) ? 'provide' : 'inspect'
          inspected.add(node.uuid)
          await lab.conductor.provision(node.uuid, { target }).catch(ignoreRefusal)
          continue
        }
        if (node.maintenance) await lab.conductor.setMaintenance(node.uuid, false).catch(ignoreRefusal)
        const verb = nextVerb(node)
        if (verb) await lab.conductor.provision(node.uuid, { target: verb.target, ...verb.more }).catch(ignoreRefusal)
        else if (node.reservation === null) {
          const extra = { round, seed }
          await lab.conductor
            .updateNode(node.uuid, () => ({ extra }))
            .then(() => answered.set(node.uuid, extra), ignoreRefusal)
        }
      }
      // A kill between the commit of a token and its answer leaves an agent without token: the time limit ends the wait.
      const moving = lab.clock.advance(Math.floor(random.next() * (kills < 60 ? 400 : 600_000)))
      if (kills < 60) {
        kills++
        // Kills at a random iteration of the event loop: between a commit and its effect, or in the middle of either.
        const iterations = Math.floor(random.next() * 60)
        for (let i = 0; i < iterations; i++) await new Promise((resolve) => setImmediate(resolve))
        const before = new Map(nodes.map(({ uuid }) => [uuid, lab.store.records.nodes.get(uuid)!.record]))
        lab.kill()
        await lab.start()
        for (const { uuid, machine } of nodes) {
          const node = await lab.node(uuid)
          expectTakenOver(before.get(uuid)!, node)
          if (answered.has(uuid)) expect(node.extra).toEqual(answered.get(uuid))
          expect((await lab.store.ports({ node_uuid: uuid })).map((port) => port.address)).toContain(machine.mac)
          machine.restarted()
        }
      }
      await moving
    }

    expect(kills).toBe(60)
    for (const { uuid } of nodes) {
      expect(await lab.node(uuid)).toMatchObject({
        provision_state: 'active',
        reservation: null,
        target_power_state: null,
      })
      expect(await lab.store.effects(uuid)).toEqual([])
    }
    await lab[Symbol.asyncDispose]()
  })
})

/** Ironic's start: what was being worked on has failed, what was waited for is still waited for. */
function expectTakenOver(before: NodeRecord, after: NodeRecord): void {
  const failed: Partial<Record<ProvisionState, ProvisionState>> = {
    verifying: 'enroll',
    inspecting: 'inspect failed',
    cleaning: 'clean failed',
    deploying: 'deploy failed',
    deleting: 'error',
  }
  const state = failed[before.provision_state] ?? before.provision_state
  expect(after.provision_state).toBe(state)
  if (state !== before.provision_state)
    expect(after.last_error).toBe(
      `The ${before.provision_state} state can't be resumed by conductor lab. Moving to fail state.`,
    )
  if (!WAITING.includes(state)) expect(after.reservation).toBeNull()
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof IronicError) || error.status >= 500) throw error
}
