import { beforeAll, test } from 'vitest'
import { INSTALLATION, served } from './served.js'
import { expectAllPassed, tempestFolder, tempestTests } from './tempest.js'

beforeAll(() => tempestFolder(), INSTALLATION)

test('all API tests of ironic-tempest-plugin pass', async () => {
  await using ironic = await served({ profile: 'upstream' })
  expectAllPassed(await tempestTests(ironic.url))
})
