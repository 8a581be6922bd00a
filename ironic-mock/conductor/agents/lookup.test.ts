import { describe, expect, test } from 'vitest'
import { manageableNode } from '../../../test/kit/conductor/scripted-lab.js'

describe('lookup', () => {
  test('the token is shown once a boot', async () => {
    const { lab, uuid, machine } = await manageableNode()
    machine.script.silent = true
    await lab.provision(uuid, 'provide', 'clean wait')
    const first = await lab.conductor.lookup(uuid, { issueToken: true })
    expect(String(first.config.agent_token)).toMatch(/^[\w-]{43}$/)
    expect(first.config).toMatchObject({
      agent_token_required: true,
      heartbeat_timeout: 300,
      agent_skip_bmc_detect: true,
    })
    expect((await lab.conductor.lookup(uuid, { issueToken: true })).config.agent_token).toBe('******')
    expect((await lab.conductor.lookup(uuid, { issueToken: false })).config.agent_token).toBeNull()
  })

  test('a lookup in enroll, manageable or available is answered with 404', async () => {
    const { lab, uuid } = await manageableNode({ automated_clean: false })
    await expect(lab.conductor.lookup(uuid, { issueToken: true })).rejects.toMatchObject({ status: 404 })
    await lab.provision(uuid, 'provide', 'available')
    await expect(lab.conductor.lookup(uuid, { issueToken: true })).rejects.toMatchObject({ status: 404 })
  })
})
