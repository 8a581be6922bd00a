import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeeds, tool } from '../../peers.js'
import { ClientTests, GO } from './client-tests.js'
import { INSTALLATION } from './served.js'

const run = promisify(execFile)

let clients: ClientTests
beforeAll(async () => {
  clients = await ClientTests.prepare()
}, INSTALLATION)
afterAll(() => clients[Symbol.asyncDispose]())

describe('the Go package', () => {
  test('passes its tests with gophercloud', async () => {
    const [program, ...argv] = clients.go('-test.v', '-test.timeout=5m')
    const { stdout } = await run(program, argv, { env: clients.variables })
    const outcomes = [...stdout.matchAll(/^--- (\w+): (\w+)/gm)].map(([, outcome, name]) => [name, outcome])
    expect(Object.fromEntries(outcomes)).toEqual({
      TestDeploymentFailsWhereTheAgentIsSilent: 'PASS',
      TestSnapshots: 'PASS',
      TestRefusals: 'PASS',
      TestStartThatFails: 'PASS',
      TestHelperPanics: 'SKIP',
      TestLabEndsWithItsProcess: 'PASS',
      TestHalfAnHourTakesNoTime: 'PASS',
    })
  })

  test('is as gofmt writes it', async () => {
    expect(await succeeds('gofmt', '-l', GO, join(clients.home, 'go'))).toBe('')
  })
})

test('the Python package passes its tests with openstacksdk', async () => {
  const { code, stdout, stderr } = await tool(...clients.pytest())
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^8 passed/m)
})
