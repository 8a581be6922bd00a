import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { addressForBmcs } from './own-address.js'

test('the address for BMCs is one of this host that other hosts can reach, for any Ironic', async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal)
    .map((one) => one!.address)
  for (const ironic of ['http://127.0.0.1:6385', 'http://[::1]:6385', 'http://192.0.2.1', 'http://nowhere.invalid']) {
    const address = await addressForBmcs([ironic], systemClock())
    if (address === undefined) expect(outside.filter((one) => !/^(fe80|169\.254)/.test(one))).toEqual([])
    else expect(outside).toContain(address)
  }
})
