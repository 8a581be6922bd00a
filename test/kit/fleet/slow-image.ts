import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../../../base/runtime/index.js'

const IMAGE = '/coreos.raw.xz'

/** An image whose server sends half of it, and the rest after {@link SlowImage.finish}. */
export interface SlowImage {
  readonly url: string
  /** Resolves when the first half is sent. */
  readonly asked: Promise<void>
  finish(): void
}

/** Serves an image until the scope ends. */
export async function slowImage(image: Buffer, scope: Scope): Promise<SlowImage> {
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => (finish = resolve))
  let began = (): void => {}
  const asked = new Promise<void>((resolve) => (began = resolve))
  const server = createServer((request, response) => {
    // There is no signature of it.
    if (request.url !== IMAGE) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': image.length })
    if (request.method === 'HEAD') return void response.end()
    const half = Math.floor(image.length / 2)
    response.write(image.subarray(0, half))
    began()
    void finished.then(() => response.end(image.subarray(half)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.onClose(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${IMAGE}`, asked, finish }
}
