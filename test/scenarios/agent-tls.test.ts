import { expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../base/runtime/index.js'
import { installCoreos } from '../../lab/index.js'
import { StagedNode } from '../../lab/lab-node.js'
import type { StageOptions } from '../../lab/stage/stage-options.js'
import { composeStage } from '../../lab/stage/stage.js'
import { configdrive } from '../kit/deployed.js'

/** A lab on loopback, with a conductor that takes no agent without TLS. */
async function strict(options: StageOptions) {
  const staged = await composeStage({
    clock: systemClock(),
    random: seededRandom(11),
    disks: 'described',
    network: { host: '127.0.0.1', port: 0 },
    ...options,
    conf: { requireTls: true, ...options.conf },
  })
  const uuid = await staged.enroll(staged.spec(1))
  const wait = <T>(awaited: Promise<T>) => awaited
  return { staged, node: new StagedNode(staged, uuid, wait, { deploySteps: [installCoreos()], configdrive }) }
}

test('a whole lifecycle by TLS with certificates that the agents made, where TLS is required', async () => {
  const { staged, node } = await strict({ agentTls: true })
  await using _ = staged
  const seen: string[] = []
  staged.probe.attach((point, next) => {
    if (point.kind === 'exchange' && point['to'] === 'agent') seen.push(new URL(point['url'] as string).protocol)
    return next()
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect(new Set(seen)).toEqual(new Set(['https:']))
  expect(seen.length).toBeGreaterThan(2)
})

test('an agent without TLS is refused there, and told why', async () => {
  const refused: string[] = []
  const { staged, node } = await strict({
    agentTls: false,
    logger: (_level, message) => void (message.includes('heartbeat') && refused.push(message)),
  })
  await using _ = staged
  void node.deploy().catch(() => {})
  await expect.poll(() => refused.join('\n'), { timeout: 5000 }).toContain('TLS is required by configuration')
})
