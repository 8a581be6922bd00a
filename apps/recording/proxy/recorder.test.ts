import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { defined, silent } from '../../../base/runtime/index.js'
import { answering, ask, clock, identity, recording } from '../../../test/kit/recorder.js'
import { HttpTransport, serveHttp } from '../../../base/wire/index.js'
import { openRecorder } from './recorder.js'

test('requests and answers are passed on and recorded, with who asked whom', async () => {
  await using ironic = await answering((request, response) => {
    response.writeHead(201, 'Made', { 'Content-Type': 'application/json', 'X-OpenStack-Ironic-API-Version': '1.115' })
    let length = 0
    request.on('data', (chunk: Buffer) => (length += chunk.length))
    request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, length })))
  })
  await using stage = await recording(ironic.url)
  const answer = await ask(`${stage.url}/v1/nodes?x=1`, {
    method: 'POST',
    body: '{"name":"node-1"}',
    headers: { 'content-type': 'application/json', 'X-OpenStack-Ironic-API-Version': '1.80' },
  })
  expect(answer).toMatchObject({ status: 201, message: 'Made', headers: { 'x-openstack-ironic-api-version': '1.115' } })
  expect(JSON.parse(answer.text)).toEqual({ method: 'POST', url: '/v1/nodes?x=1', length: 17 })
  await ask(`${stage.url}/v1/lookup?addresses=52:54:00:00:00:01`)

  const [created, lookup] = await stage.exchanges()
  expect(created).toMatchObject({
    seq: 1,
    from: 'client',
    to: 'ironic',
    method: 'POST',
    target: '/v1/nodes?x=1',
    status: 201,
    request: { headers: { 'x-openstack-ironic-api-version': '1.80' }, body: { name: 'node-1' }, bytes: 17 },
    response: { headers: { 'content-type': 'application/json' }, body: { length: 17 } },
  })
  expect(lookup).toMatchObject({ seq: 2, from: 'agent', to: 'ironic' })
})

test('links and Location lead through the recorder, whichever host Ironic gives itself; the recording has them as they were', async () => {
  const publicUrl = 'https://ironic.example.com'
  await using ironic = await answering((request, response) => {
    const body = JSON.stringify({
      driver_info: { deploy_kernel: `${publicUrl}/v1/kernel` },
      links: [
        { href: `${publicUrl}/v1/nodes/1`, rel: 'self' },
        { href: `http://${request.headers.host}/v1/nodes/1`, rel: 'bookmark' },
        { href: 'https://docs.openstack.org/ironic', rel: 'describedby' },
      ],
      next: `${publicUrl}/v1/nodes?marker=1`,
    })
    response.writeHead(200, { 'content-type': 'application/json', location: `${publicUrl}/v1/nodes/1` })
    if (request.url === '/slow') for (const letter of body) response.write(letter)
    response.end(request.url === '/slow' ? '' : body)
  })
  await using stage = await recording(ironic.url)
  for (const path of ['/', '/slow']) {
    const { text, headers } = await ask(stage.url + path)
    expect(headers.location).toBe(`${stage.url}/v1/nodes/1`)
    expect(JSON.parse(text)).toEqual({
      driver_info: { deploy_kernel: `${publicUrl}/v1/kernel` },
      links: [
        { href: `${stage.url}/v1/nodes/1`, rel: 'self' },
        { href: `${stage.url}/v1/nodes/1`, rel: 'bookmark' },
        { href: 'https://docs.openstack.org/ironic', rel: 'describedby' },
      ],
      next: `${stage.url}/v1/nodes?marker=1`,
    })
  }
  const [first] = await stage.exchanges()
  expect(first!.response!.body).toMatchObject({ next: `${publicUrl}/v1/nodes?marker=1` })
})

test('an Ironic below a path is reached there', async () => {
  await using ironic = await answering((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ asked: request.url, links: [{ href: `http://${request.headers.host}/baremetal/v1/` }] }),
    )
  })
  await using stage = await recording(`${ironic.url}/baremetal/v1/`)
  expect(JSON.parse((await ask(`${stage.url}/v1/nodes`)).text)).toEqual({
    asked: '/baremetal/v1/nodes',
    links: [{ href: `${stage.url}/v1/` }],
  })
})

test('an upstream that is down resets the connection, and is said', async () => {
  const port = await answering(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]()
    return server.port
  })
  await using stage = await recording(`http://127.0.0.1:${port}`)
  await expect(ask(`${stage.url}/v1/nodes`)).rejects.toThrow(/ECONNRESET|hang up/)
  expect(stage.log).toEqual([expect.stringContaining('ECONNREFUSED')])
  expect(await stage.exchanges()).toMatchObject([
    { status: null, response: null, failure: expect.stringContaining('ECONNREFUSED') as string },
  ])
})

test('headers of one connection stay there, and compression is not asked for', async () => {
  let seen: IncomingMessage['headers'] = {}
  await using ironic = await answering((request, response) => {
    seen = request.headers
    response
      .writeHead(200, { 'Keep-Alive': 'timeout=77', 'X-Only-Here': 'yes', Connection: 'x-only-here', 'X-Kept': '1' })
      .end()
  })
  await using stage = await recording(ironic.url)
  const { headers } = await ask(`${stage.url}/v1/nodes`, {
    headers: { connection: 'close, x-mine', 'x-mine': '1', te: 'trailers', 'accept-encoding': 'gzip', 'x-kept': '1' },
  })
  expect(seen).toMatchObject({ host: new URL(ironic.url).host, 'x-kept': '1', 'accept-encoding': 'identity' })
  expect(seen).not.toHaveProperty('x-mine')
  expect(seen).not.toHaveProperty('te')
  expect(headers).toMatchObject({ 'x-kept': '1' })
  expect(headers).not.toHaveProperty('x-only-here')
})

test.each(['GET', 'CONNECT'])('other protocols and tunnels are refused: %s', async (method) => {
  await using ironic = await answering((_, response) => response.end('never'))
  await using stage = await recording(ironic.url)
  const socket = connect(Number(new URL(stage.url).port), '127.0.0.1')
  const upgrade = method === 'GET' ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
  socket.write(
    `${method} ${method === 'GET' ? '/v1/x' : 'example.com:443'} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`,
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 501 /)
  socket.destroy()
})

test('bodies of 20 MiB pass; JSON beyond the limit is not kept, of a text the beginning is', async () => {
  const large = Buffer.alloc(20 * 2 ** 20, 'a line of text\n')
  let received = 0
  await using ironic = await answering((request, response) => {
    request.on('data', (chunk: Buffer) => (received += chunk.length))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': request.url === '/json' ? 'application/json' : 'text/plain' })
      response.end(request.url === '/json' ? JSON.stringify({ password: 'x'.repeat(2 ** 20) }) : large)
    })
  })
  await using stage = await recording(ironic.url, { bodyLimit: 2 ** 19 })
  expect((await ask(`${stage.url}/text`, { method: 'POST', body: large })).text).toHaveLength(large.length)
  expect(received).toBe(large.length)
  expect((await ask(`${stage.url}/json`)).text).toHaveLength(2 ** 20 + 15)
  const [text, json] = await stage.exchanges()
  expect(text!.response).toMatchObject({ bytes: large.length, cut: true })
  expect(text!.response!.text).toHaveLength(2 ** 19)
  expect(json!.response).toEqual({ headers: expect.anything() as object, bytes: 2 ** 20 + 15, cut: true })
  expect(stage.recorder.counts).toEqual({ recorded: 2, failed: 0, cut: 2, lost: 0 })
})

test('a client that goes away in the middle is said, and a stop in the middle of an answer too', async () => {
  await using ironic = await answering((_, response) => {
    response.writeHead(200)
    response.write('the beginning')
  })
  await using stage = await recording(ironic.url)
  const gone = httpRequest(`${stage.url}/gone`, (answer) => answer.once('data', () => gone.destroy()))
  gone.on('error', () => {})
  gone.end()
  await vi.waitFor(() => expect(stage.recorder.counts.failed).toBe(1))
  const cut = ask(`${stage.url}/cut`)
  cut.catch(() => {})
  await clock.sleep(100)
  const exchanges = await stage.exchanges()
  await expect(cut).rejects.toThrow(/aborted|hang up/)
  expect(exchanges.map(({ target, failure, response }) => [target, failure, response!.text])).toEqual([
    ['/gone', 'the one who asked closed the connection before the answer was whole', 'the beginning'],
    ['/cut', 'the recorder was stopped', 'the beginning'],
  ])
})

test('many exchanges of several clients at once are all recorded, with numbers of their own', async () => {
  await using ironic = await answering((request, response) => response.end(request.url))
  await using stage = await recording(ironic.url)
  const client = async (name: string) => {
    for (let count = 0; count < 200; count++)
      expect((await ask(`${stage.url}/${name}/${count}`)).text).toBe(`/${name}/${count}`)
  }
  await Promise.all(['a', 'b', 'c'].map(client))
  const exchanges = await stage.exchanges()
  expect(exchanges.map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
  expect(exchanges.every(({ target, response }) => response!.text === target)).toBe(true)
})

test('an answer that a client has is in the file, also when the recorder is killed then', async () => {
  await using ironic = await answering((_, response) => response.writeHead(200, { 'content-length': 2 }).end('ok'))
  await using stage = await recording(ironic.url)
  for (let count = 1; count <= 20; count++) {
    await ask(`${stage.url}/${count}`)
    expect((await readFile(stage.file, 'utf8')).split('\n').slice(1, -1)).toHaveLength(count)
  }
})

test.each(['http', 'https'])('Ironic calls an agent that speaks %s through the recorder', async (scheme) => {
  const own = await identity('192.0.2.1')
  await using agent = await serveHttp({
    port: 0,
    clock,
    ...defined({ tls: scheme === 'https' ? own : undefined }),
    dispatch: ({ target, body }) =>
      Promise.resolve({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ target, body }),
      }),
  })
  const beats: Record<string, string>[] = []
  await using ironic = await answering((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      beats.push(JSON.parse(text) as Record<string, string>)
      response.writeHead(202).end()
    })
  })
  await using stage = await recording(ironic.url, { agentPort: 0 })
  const beat = { callback_url: agent.url, agent_token: 'a-token-of-the-agent', agent_version: '13.0.0' }
  const authority = scheme === 'https' ? { agent_verify_ca: own.certificate } : {}
  await ask(`${stage.url}/v1/heartbeat/node-1`, { method: 'POST', body: JSON.stringify({ ...beat, ...authority }) })
  const [{ callback_url: callback, agent_verify_ca: ca } = {}] = beats
  expect(callback).toBe(`${scheme}://127.0.0.1:${stage.recorder.agentPort}/node-1`)
  await using ironicsSide = new HttpTransport({ clock, ...defined({ tls: ca === undefined ? undefined : { ca } }) })
  const command = {
    method: 'POST',
    url: `${callback}/v1/commands/?agent_token=a-token-of-the-agent`,
    headers: {},
    body: '{"name":"standby.sync"}',
  }
  expect(JSON.parse((await ironicsSide.send(command)).body as string)).toEqual({
    target: '/v1/commands/?agent_token=a-token-of-the-agent',
    body: command.body,
  })
  const exchanges = await stage.exchanges()
  expect(exchanges).toMatchObject([
    { from: 'agent', to: 'ironic', request: { body: { callback_url: agent.url, agent_token: '***1' } }, status: 202 },
    {
      from: 'ironic',
      to: 'agent',
      node: 'node-1',
      target: '/v1/commands/?agent_token=***1',
      request: { body: { name: 'standby.sync' } },
    },
  ])
})

test('the file must be new, or be replaced on purpose', async () => {
  await using stage = await recording('http://127.0.0.1:9')
  const again = { upstream: 'http://127.0.0.1:9', output: stage.file, port: 0, clock, logger: silent, identity }
  await expect(openRecorder(again)).rejects.toMatchObject({ code: 'recording-exists', kind: 'usage' })
  await using replaced = await openRecorder({ ...again, force: true })
  expect(replaced.counts.recorded).toBe(0)
  await expect(openRecorder({ ...again, output: join('no/such/folder') })).rejects.toMatchObject({
    code: 'recording-unwritable',
  })
  await expect(openRecorder({ ...again, upstream: 'ironic:6385' })).rejects.toMatchObject({ code: 'upstream-url' })
})

test('a disk that is full stops no traffic, and is said once', async () => {
  await using ironic = await answering((_, response) => response.end('ok'))
  const log: string[] = []
  // A device on which nothing can be written.
  const full = { upstream: ironic.url, output: '/dev/full', force: true, port: 0, clock, identity }
  await expect(openRecorder({ ...full, logger: silent })).rejects.toMatchObject({ code: 'recording-unwritable' })
  await using recorder = await openRecorder({
    ...full,
    output: '/dev/null',
    logger: (_, message) => void log.push(message),
  })
  expect((await ask(`${recorder.url}/1`)).text).toBe('ok')
  expect(log).toEqual([])
})
