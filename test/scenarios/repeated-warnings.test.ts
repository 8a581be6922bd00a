import { expect, test } from 'vitest'
import { createStagedLab, installCoreos } from '../../lab/index.js'
import type { Logger } from '../../base/runtime/index.js'
import { ignition } from '../kit/deployed.js'
import { minutes } from '../../base/runtime/index.js'

test('an agent whose token a failed deployment has dropped says so once, with the name of its node', async () => {
  const logged: { level: Parameters<Logger>[0]; message: string; node: unknown }[] = []
  await using lab = await createStagedLab({
    conf: { powerOffAfterDeployFailure: false },
    logger: (level, message, { node } = {}) => void logged.push({ level, message, node }),
  })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })], fields: { name: 'rack-7' } })
  lab.faults.add({
    match: { node: node.uuid, disk: 'sda', phase: 'install' },
    effect: { kind: 'disk-error', at: 2 ** 20 },
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'deploy failed', power_state: 'power on' })
  await lab.clock.advance(minutes(60))
  const refused = logged.filter(({ message }) => message.includes('heartbeat'))
  expect(refused).toEqual([
    { level: 'warn', message: expect.stringContaining("dropped this agent's token") as string, node: 'rack-7' },
  ])
})
