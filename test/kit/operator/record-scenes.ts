import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { openKube, serveKube } from '../../../base/kubernetes/index.js'
import { createStagedLab, type StagedLab } from '../../../lab/index.js'
import { defined, seededRandom, silent } from '../../../base/runtime/index.js'
import type { OperatorCall } from './operator-calls.js'
import { OPERATOR_SCENES, SCENE_IRONIC } from './operator-scenes.js'
import { OperatorStage, sceneImages } from './operator-stage.js'

/**
 * Renews the records of the real BareMetal Operator: `npx jiti test/kit/operator/record-scenes.ts PROGRAM [SCENE...]`.
 *
 * PROGRAM is one that runs the operator's controllers with the Kubernetes API at KUBE_URL and the Ironic at IRONIC_URL,
 * where time goes SPEED times as fast, and DEPLOY_ISO_URL and its kin as the real one takes them; it prints each call of
 * the controller of hosts to Ironic as a line `{"call": {"by": "host", "method", "path", "body"}}`, and ends with its stdin.
 */
const SPEED = 60
const RECORDS = new URL('../../fixtures/baremetal-operator/', import.meta.url)
const IMAGES = 'http://images.invalid/ironic-python-agent'

/** A lab's Ironic on a port of loopback. */
async function served(lab: StagedLab) {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks).toString() }
      const url = `${lab.url}${request.url}`
      const answer = await lab.transport.send({ method: request.method!, url, headers, ...body })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function record(program: string, name: string, images: Awaited<ReturnType<typeof sceneImages>>): Promise<void> {
  const { lab: options, play } = OPERATOR_SCENES[name]!
  await using lab = await createStagedLab({ ironic: SCENE_IRONIC, clock: SPEED, ...options })
  const { clock } = lab
  const { client: kube, store } = openKube({ clock, random: seededRandom(1) })
  await using api = await serveKube({ store, port: 0, clock, logger: silent })
  await using ironic = await served(lab)
  await using stage = await OperatorStage.open({ lab, kube, images })
  const running = spawn(program, [], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      KUBE_URL: api.url,
      IRONIC_URL: ironic.url,
      SPEED: String(SPEED),
      DEPLOY_ISO_URL: `${IMAGES}.iso`,
      DEPLOY_KERNEL_URL: `${IMAGES}.kernel`,
      DEPLOY_RAMDISK_URL: `${IMAGES}.initramfs`,
    },
  })
  createInterface({ input: running.stdout }).on('line', (line) => {
    const { call } = JSON.parse(line) as { call?: OperatorCall & { by: string } }
    if (call?.by !== 'host') return
    const { method, path, body } = call
    stage.called({ method, path: path.replace(/^\/v1/, ''), ...defined({ body }) })
  })
  const ended = once(running, 'exit').then(() => Promise.reject(new Error(`${program} ended before the scene`)))
  await Promise.race([play(stage), ended])
  ended.catch(() => {})
  running.stdin.end()
  await once(running, 'exit')
  const file = new URL(`${name.replaceAll(' ', '-')}.json`, RECORDS)
  await writeFile(file, `${JSON.stringify(await stage.record(), null, 1)}\n`)
}

const [program, ...names] = process.argv.slice(2)
if (program === undefined) throw new Error('name the program that runs the real operator')
const images = await sceneImages()
for (const name of names.length > 0 ? names : Object.keys(OPERATOR_SCENES)) {
  await record(program, name, images)
  process.stdout.write(`recorded: ${name}\n`)
}
