import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { selfSigned } from '../../agent/index.js'
import {
  openRecorder,
  readRecording,
  type RecordingExchange,
  type CallRecorder,
  type RecorderOptions,
} from '../../apps/recording/index.js'
import { systemClock, systemRandom, temporaryFolder } from '../../base/runtime/index.js'

export const clock = systemClock()
export const identity = (address: string) => selfSigned({ hostname: 'test', address, random: systemRandom, clock })
/** A recorder before an upstream. */
export interface Stage extends AsyncDisposable {
  recorder: CallRecorder
  file: string
  url: string
  upstream: string
  log: string[]
  /** Ends the recording and reads it. */
  exchanges(): Promise<readonly RecordingExchange[]>
}

export async function recording(upstream: string, more: Partial<RecorderOptions> = {}): Promise<Stage> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'recording.ndjson')
  const log: string[] = []
  const logger: RecorderOptions['logger'] = (level, message) => void log.push(`${level}: ${message}`)
  const recorder = await openRecorder({ upstream, output: file, port: 0, clock, logger, identity, ...more })
  return {
    recorder,
    file,
    url: recorder.url,
    upstream,
    log,
    exchanges: async () => {
      await recorder[Symbol.asyncDispose]()
      return (await readRecording(file)).exchanges
    },
    [Symbol.asyncDispose]: async () => {
      await recorder[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function opened(server: Server): Promise<AsyncDisposable & { url: string; port: number }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
export const answering = (listener: RequestListener) => opened(createServer(listener))
/** Writes these bytes once a request's header has come. */
export const raw = (script: (socket: Socket, head: string) => void) =>
  opened(createTcpServer((socket) => void socket.once('data', (head) => script(socket, head.toString()))))

/** A request as it is, and its answer or error. */
export function ask(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<{
  status: number
  message: string
  headers: IncomingMessage['headers']
  text: string
  trailers: NodeJS.Dict<string>
}> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode!,
          message: answer.statusMessage!,
          headers: answer.headers,
          text: Buffer.concat(chunks).toString(),
          trailers: answer.trailers,
        }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
