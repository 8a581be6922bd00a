import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { cuttableLink } from './cuttable-link.js'

/** A server that returns what it gets, behind a link, with a client. */
async function echoScene() {
  const far: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    far.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => socket.writable && socket.write(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const link = await cuttableLink((server.address() as AddressInfo).port)
  const client = connect({ port: link.port, host: '127.0.0.1', allowHalfOpen: true })
  client.on('error', () => {})
  await once(client, 'connect')
  const next = async (): Promise<string> => String((await once(client, 'data'))[0])
  client.write('first')
  expect(await next()).toBe('first')
  return {
    link,
    client,
    far: far[0]!,
    next,
    [Symbol.asyncDispose]: async () => {
      client.destroy()
      await link[Symbol.asyncDispose]()
      for (const socket of far) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('what a stalled link was sent arrives when it goes on, and its sockets stay', async () => {
  await using scene = await echoScene()
  scene.link.stall()
  scene.client.write('second')
  const answer = scene.next()
  expect(await Promise.race([answer, sleep(50, 'nothing')])).toBe('nothing')
  expect(scene.link.connections()).toBe(1)
  scene.link.resume()
  expect(await answer).toBe('second')
})

test('a slowed link keeps the order of what it passes, also of what comes when it is fast again', async () => {
  await using scene = await echoScene()
  scene.link.slow(20)
  scene.client.write('1')
  await sleep(5)
  scene.link.slow(0)
  scene.client.write('2')
  let text = ''
  while (text.length < 2) text += await scene.next()
  expect(text).toBe('12')
})

test('the end of one direction leaves the other open', async () => {
  await using scene = await echoScene()
  const ended = once(scene.far, 'end')
  scene.link.halfClose('client')
  await ended
  scene.far.write('still here')
  expect(await scene.next()).toBe('still here')
})

test('a link that is cut closes both ends; one that refuses resets those that come', async () => {
  await using scene = await echoScene()
  const ended = Promise.all([once(scene.client, 'end'), once(scene.far, 'end')])
  scene.link.cut()
  await ended
  scene.link.refuse()
  const refused = connect({ port: scene.link.port, host: '127.0.0.1' })
  refused.on('error', () => {})
  await new Promise((resolve) => refused.once('close', resolve))
  scene.link.accept()
  await using again = await echoScene()
  expect(again.link.connections()).toBe(1)
})
