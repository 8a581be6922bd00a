import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import lzma from 'lzma-native'
import { seededRandom } from '../../../base/runtime/index.js'
import { parseGpt } from '../../../machine/disk/gpt.js'
import { smallImage } from './rehearsal-image.js'

const MIB = 1024 * 1024
const BLOCK = 4096

/**
 * The small image in every format, and what can be wrong with an image. Cut off behind the last block that the boot
 * filesystem uses, which an installation does not notice: fewer zeros to decompress in every test.
 */
export interface TestImages {
  raw: Buffer
  xz: Buffer
  gz: Buffer
  zst: Buffer
  /** With half a MiB that compresses badly where the boot filesystem is free, so that reading it takes several reads. */
  filledXz: Buffer
  corruptXz: Buffer
  withoutBootXz: Buffer
  /** Kernel arguments of its boot loader entry. */
  kernelArguments: string[]
}

const xz = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve) => lzma.compress(bytes, { preset: 1 }, (result) => resolve(result)))

export async function testImages(): Promise<TestImages> {
  const whole = await smallImage()
  const boot = parseGpt(whole, 512).partitions.find(({ name }) => name === 'boot')!
  const bootEnd = boot.offset + boot.length
  let used = bootEnd
  while (whole.subarray(used - BLOCK, used).every((byte) => byte === 0)) used -= BLOCK
  const raw = whole.subarray(0, used)
  const filled = Buffer.concat([raw, Buffer.from(Buffer.from(seededRandom(7).bytes(MIB / 4)).toString('hex'))])
  const filledXz = await xz(filled)
  const corruptXz = Buffer.from(filledXz)
  corruptXz.fill(0x55, filledXz.length >> 1, (filledXz.length >> 1) + 64)
  const withoutBoot = Buffer.from(raw)
  withoutBoot.fill(0, boot.offset, boot.offset + BLOCK)
  const options = /^options (.*)$/m.exec(raw.subarray(boot.offset).toString('latin1'))
  return {
    raw,
    xz: await xz(raw),
    gz: gzipSync(raw, { level: 1 }),
    zst: readFileSync(new URL('../../fixtures/coreos-installer/coreos-metal.raw.zst', import.meta.url)),
    filledXz,
    corruptXz,
    withoutBootXz: await xz(withoutBoot),
    kernelArguments: options![1]!.split(' '),
  }
}

/** A server of images that behaves as its paths say: /ok, /404, /flaky, /trunc, /stall, /chunked. */
export async function badImageServer(images: TestImages, ignition: Buffer) {
  let requests: string[] = []
  let failures = 0
  let stalled: () => void = () => {}
  const server = createServer((request, response) => {
    const [, behaviour, file = ''] = request.url!.split('/')
    const body = { 'c.ign': ignition, 'fake-coreos-metal.raw.xz': images.xz, 'mid.raw.xz': images.filledXz }[file]
    const status = body === undefined || behaviour === '404' ? 404 : behaviour === 'flaky' && failures++ < 2 ? 503 : 200
    requests.push(`GET ${request.url} ${status}`)
    response.statusCode = status
    if (status !== 200) {
      response.end('no')
      return
    }
    if (behaviour !== 'chunked') response.setHeader('content-length', body!.length)
    if (behaviour === 'trunc' || behaviour === 'stall') {
      response.write(body!.subarray(0, body!.length >> 1), () =>
        setTimeout(behaviour === 'trunc' ? () => response.destroy() : stalled, 50),
      )
      return
    }
    response.write(body)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    reset: () => {
      requests = []
      failures = 0
    },
    onStall: (listener: () => void) => (stalled = listener),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
