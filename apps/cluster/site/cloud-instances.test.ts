import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodedFile } from '../../../base/bytes/index.js'
import { minutes, seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { openSite } from './site.js'

test('a machine of a cloud has its user data on the boot partition, and asks no metadata service', async () => {
  const clock = new VirtualClock()
  await using site = await openSite({ clock, random: seededRandom(3), reachability: 'disconnected' })
  const parts: Uint8Array[] = []
  for await (const part of decodedFile(REHEARSAL_IMAGE, clock)) parts.push(part)
  site.cloud.publish('image', gzipSync(Buffer.concat(parts), { level: 1 }))
  const file = { path: '/etc/from-user-data', contents: { source: 'data:,here' } }
  const userData = Buffer.from(JSON.stringify({ ignition: { version: '3.0.0' }, storage: { files: [file] } }))
  const signal = new AbortController().signal
  const machine = await clock.until(site.cloud.create({ name: 'worker-0', image: 'image', userData }, signal))
  await clock.until(clock.sleep(minutes(10)))
  expect(machine.rootFiles()?.text(file.path)).toBe('here')
  expect(site.network.refused).toEqual([])
})
