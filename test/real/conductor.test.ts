import { expect, test } from 'vitest'
import { realIronic } from './ironic.js'
test('starts', async () => {
  const t = Date.now()
  await using ironic = await realIronic()
  console.log(ironic.url, Date.now() - t)
  console.log(await (await fetch(ironic.url + '/v1/drivers')).text())
  console.log(await ironic.logged())
}, 600000)
