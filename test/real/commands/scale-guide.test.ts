import { expect, onTestFinished, test } from 'vitest'
import { followShellGuide } from '../../kit/guides/shell-guide.js'
import { freePort } from '../free-port.js'
import { PostgresServer } from '../postgres.js'
import { openstackClients } from '../programs/clients/baremetal.js'

test('the commands of docs/scale.md start an API, two conductors and machines', { timeout: 300_000 }, async () => {
  const clients = await openstackClients()
  const server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const port = await freePort()
  const { code, printed, outputs } = await followShellGuide('docs/scale.md', {
    shown: 'text',
    programs: { baremetal: `${clients}/bin/python ${clients}/bin/baremetal` },
    adapt: (text) =>
      text
        .replace('ironic@127.0.0.1/ironic', `postgres@127.0.0.1:${server.port}/postgres`)
        .replaceAll('http://127.0.0.1:6385', `http://127.0.0.1:${port}`)
        .replace('--role api', `--role api --port ${port}`)
        .replace('--role machines', '--role machines --redfish-port 0'),
  })
  expect(code, printed.slice(-3000)).toBe(0)
  expect(outputs).toHaveLength(1)
  for (const { name, shown, printed: found } of outputs) expect(found, name).toBe(shown)
})
