import { beforeAll, expect, test } from 'vitest'
import { Scope } from '../../../base/runtime/index.js'
import { INSTALLATION } from '../programs/clients/served.js'
import { expectAllPassed, tempestFolder, tempestTests } from '../programs/clients/tempest.js'
import { severalIronics } from '../several-ironics.js'

beforeAll(() => tempestFolder(), INSTALLATION)

test('all API tests of ironic-tempest-plugin pass, each call of which goes to the next of two APIs, with two conductors', async () => {
  await using scope = new Scope()
  const { proxy } = await severalIronics(scope, ['--profile', 'upstream'])
  expectAllPassed(await tempestTests(proxy.url))
  expect(Math.min(...proxy.counts)).toBeGreaterThan(1000)
})
