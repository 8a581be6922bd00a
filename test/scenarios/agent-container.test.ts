import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StagedLab } from '../../lab/index.js'
import { isExchange } from '../../base/wire/index.js'
import { machineOf } from '../kit/deployed.js'
import { liveServers } from '../kit/live-lab.js'

let servers: Awaited<ReturnType<typeof liveServers>>
beforeAll(async () => {
  servers = await liveServers()
})
afterAll(() => servers[Symbol.asyncDispose]())

const agent = { image: 'registry.example/team/ironic-agent:v1' }
const MEDIA = { boot_interface: 'redfish-virtual-media' }

const withAgent = (more: object = {}): Promise<StagedLab> => {
  const files = [{ architecture: 'x86_64', iso: servers.iso }]
  return servers.lab({ liveImages: { files, byDefault: true, agent: { ...agent, ...more } } })
}

/** Asks for an inspection; gives how the node came to rest, what its machine showed and whether an agent called. */
async function inspected(lab: StagedLab, fields: object = {}) {
  let calls = 0
  lab.probe.attach((point, next) => {
    if (isExchange(point) && point.from === 'agent') calls++
    return next()
  })
  const node = await lab.enroll({ fields: { ...MEDIA, ...fields } })
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  await node.until(({ provision_state: state }) => state === 'inspect wait')
  const { provision_state: state, last_error: error } = await node.settled()
  return { state, error, calls, console: (await machineOf(node)).console() }
}

describe('the container of the agent cannot be pulled', () => {
  test.each([
    ['not-found', 'reading manifest v1 in registry.example/team/ironic-agent: manifest unknown'],
    ['unauthorized', 'unauthorized: access to the requested resource is not authorized'],
    [
      'timeout',
      'pinging container registry registry.example: Get "https://registry.example/v2/": dial tcp: i/o timeout',
    ],
  ] as const)('%s: the unit fails again and again, and no agent calls', async (reason, sentence) => {
    await using lab = await withAgent()
    lab.faults.add({ match: { image: 'registry.example/' }, effect: { kind: 'pull-error', reason } })
    const { state, error, calls, console } = await inspected(lab)
    expect({ state, calls }).toEqual({ state: 'inspect failed', calls: 0 })
    expect(error).toContain('Timeout reached while inspecting the node')
    expect(console.some((line) => line.startsWith('ironic-agent.service: Error: ') && line.endsWith(sentence))).toBe(
      true,
    )
    expect(console).toContain("systemd[1]: ironic-agent.service: Failed with result 'exit-code'.")
    expect(console.some((line) => /restart counter is at \d+\.$/.test(line))).toBe(true)
  })

  test("the original design's unit is not tried again, not even where the next pull would do", async () => {
    await using lab = await withAgent({ template: 'original' })
    lab.faults.add({ match: {}, effect: { kind: 'pull-error' }, times: 1 })
    const { state, calls, console } = await inspected(lab)
    expect({ state, calls }).toEqual({ state: 'inspect failed', calls: 0 })
    expect(console.filter((line) => line.includes('Trying to pull'))).toHaveLength(1)
    expect(console.at(-1)).toBe('systemd[1]: Failed to start ironic-agent.service.')
  })

  test("without a fault both forms' agents inspect", async () => {
    for (const template of ['today', 'original']) {
      await using lab = await withAgent({ template })
      const { state, error, calls, console } = await inspected(lab)
      expect({ state, error }).toEqual({ state: 'manageable', error: null })
      expect(calls).toBeGreaterThan(0)
      expect(console).toContain(`ironic-agent.service: started the container of ${agent.image}`)
    }
  })

  test('a fault that could never strike is refused', async () => {
    await using lab = await withAgent()
    expect(() => lab.faults.add({ match: { program: 'podman' }, effect: { kind: 'pull-error' } })).toThrow(
      'can never strike where program matches',
    )
    expect(() => lab.faults.add({ match: { image: 'x' }, effect: { kind: 'agent-silent' } })).toThrow(
      'can never strike where image matches',
    )
  })
})
