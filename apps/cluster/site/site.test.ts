import { describe, expect, test } from 'vitest'
import { HttpClient } from '../../../base/bytes/index.js'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { bootNetwork } from '../../../lab/stage/stage-boot-network.js'
import type { Reachability } from './site-network.js'
import { openSite } from './site.js'

const signal = new AbortController().signal
const site = (reachability: Reachability) =>
  openSite({ clock: new VirtualClock(), random: seededRandom(3), reachability })

describe.each(['connected', 'disconnected'] as const)('a site that is %s', (reachability) => {
  const reaches = reachability === 'connected'

  test(`${reaches ? 'reaches' : 'does not reach'} the web servers of the Internet, but its mirror in any case`, async () => {
    await using opened = await site(reachability)
    const { clock, outside, mirror, network } = opened
    const urls = [outside, mirror].map((server) => server.put('/image.raw', Buffer.from('image')))
    const http = new HttpClient({ clock })
    const answers: number[] = []
    for (const url of urls) {
      const answer = await http.get({ url, signal })
      answers.push(answer.status)
      await answer.close()
    }
    expect(answers).toEqual([reaches ? 200 : 403, 200])
    expect(network.refused.map(({ what }) => what)).toEqual(reaches ? [] : [urls[0]])
    expect([outside.fetched, mirror.fetched]).toEqual([reaches ? ['/image.raw'] : [], ['/image.raw']])
  })

  test(`${reaches ? 'boots' : 'does not boot'} a machine from the Internet`, async () => {
    await using opened = await site(reachability)
    const url = opened.outside.put('/live.iso', Buffer.from('x'))
    const allow = (asked: string): void => opened.network.check(asked)
    const booted = bootNetwork({ clock: opened.clock, allow }).open(url, { signal })
    if (reaches) expect((await booted).size).toBe(1)
    else await expect(booted).rejects.toMatchObject({ code: 'site-unreachable' })
  })
})

test('Ironic is stopped until a pod starts it', async () => {
  await using opened = await site('connected')
  expect(opened.stage.ironic.isRunning).toBe(false)
  await expect(opened.stage.client.nodes()).rejects.toMatchObject({ status: 503 })
  await opened.stage.ironic.start()
  expect(await opened.stage.client.nodes()).toEqual([])
})
