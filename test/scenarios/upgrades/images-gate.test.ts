import { expect, test } from 'vitest'
import { minutes, seconds, silent, VirtualClock } from '../../../runtime/index.js'
import { imageServer } from '../../kit/deployed.js'
import { versionedIso } from '../../kit/images/versioned-images.js'
import { imagesReady } from '../../kit/cluster/images-gate.js'

const [A, B] = ['38.20230718.3.0', '39.20240101.3.0']

test('a conductor waits until the image service has been updated, at most for its time limit', async () => {
  const files: Record<string, Uint8Array> = { '/live.iso': versionedIso(A) }
  await using server = await imageServer(files)
  const clock = new VirtualClock()
  const parts = { clock, logger: silent, signal: new AbortController().signal }
  const iso = server.url('/live.iso')
  void clock.sleep(seconds(42)).then(() => (files['/live.iso'] = versionedIso(B)))
  await clock.until(imagesReady({ version: B, iso, patience: minutes(5) }, parts))
  expect(clock.elapsed()).toBe(seconds(45))

  await expect(
    clock.until(imagesReady({ version: '40.20250101.3.0', iso, patience: seconds(20) }, parts)),
  ).rejects.toMatchObject({
    code: 'images-outdated',
  })
  expect(clock.elapsed()).toBe(seconds(65))
})
