import { expect, test } from 'vitest'
import { seconds, VirtualClock, type UserError } from '../../../base/runtime/index.js'
import { NodeSearch } from './node-search.js'

function searching() {
  const clock = new VirtualClock()
  const logged: string[] = []
  const failures: UserError[] = []
  const search = new NodeSearch({
    clock,
    logger: (level, message) => void logged.push(`${level}: ${message}`),
    onFailure: (why) => void failures.push(why),
  })
  const attempts = async (count: number) => {
    for (let n = 0; n < count; n++) {
      search.tried({ missing: 'node', why: 'running lsblk: its result is unknown' })
      await clock.advance(seconds(1))
    }
  }
  return { search, attempts, logged, failures }
}

test('an agent that does not find its node fails the deployment after half a minute, with the cause', async () => {
  const { attempts, logged, failures } = searching()
  await attempts(30)
  expect(failures).toEqual([])
  expect(logged).toEqual(['warn: agent: the node is not found yet: running lsblk: its result is unknown'])
  await attempts(1)
  expect(failures.map(({ code, message }) => [code, message])).toEqual([
    ['no-agent', 'the agent has not found its node for 30 s: running lsblk: its result is unknown'],
  ])
})

test('the next agent has the whole time', async () => {
  const { search, attempts, failures } = searching()
  await attempts(25)
  search.restart()
  await attempts(25)
  expect(failures).toEqual([])
})
