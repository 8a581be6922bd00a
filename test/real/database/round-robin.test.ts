import { beforeAll, expect, test } from 'vitest'
import { Scope, seededRandom } from '../../../base/runtime/index.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { RoundRobin } from '../../kit/round-robin.js'
import { PostgresServer } from '../postgres.js'
import { openstackClients } from '../programs/clients/baremetal.js'
import { FUNCTIONAL_TESTS, functionalTests } from '../programs/clients/functional.js'
import { INSTALLATION } from '../programs/clients/served.js'

/** Suites of real clients, each call of which goes to the next of several APIs of one database. */

beforeAll(async () => void (await openstackClients()), INSTALLATION)

test('all functional tests of openstacksdk pass against two APIs and two conductors behind a proxy', async () => {
  await using scope = new Scope()
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const database = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  const random = seededRandom(Date.now() % 100_000)
  const roles = ['conductor', 'conductor', 'api', 'api'] as const
  const ironics = scope.use(await UpIronics.open(database, roles, random, ['--profile', 'upstream']))
  const proxy = scope.use(await RoundRobin.open(ironics.apis))
  const outcomes = await functionalTests(proxy.url)
  expect(outcomes.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  expect(outcomes).toHaveLength(FUNCTIONAL_TESTS)
  expect(Math.min(...proxy.counts)).toBeGreaterThan(FUNCTIONAL_TESTS)
})
