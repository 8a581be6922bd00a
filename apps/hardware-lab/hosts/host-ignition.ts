import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { parseIgnition, readIgnition, type IgnitionConfig } from '../../../ignition/index.js'
import { defined, didYouMean, UserError, readNamedFile } from '../../../base/runtime/index.js'
import type { Host } from './host.js'
import type { SecretParts } from './known-secrets.js'

/**
 * The Ignition config of a host: a file, a template with the host's values, or what `butane` makes of its own.
 *
 * @throws UserError (usage) with the reason why Ignition would refuse it
 */
export async function ignitionOf(host: Host, parts: SecretParts): Promise<IgnitionConfig> {
  const bytes = await ignitionBytes(host, parts)
  readIgnition(bytes)
  return parseIgnition(bytes)
}

async function ignitionBytes(host: Host, parts: SecretParts): Promise<Uint8Array> {
  const { ignition } = host
  if (ignition === undefined) return Buffer.from('{"ignition":{"version":"3.4.0"}}')
  const read = (file: string): Promise<Buffer> =>
    readNamedFile(resolve(parts.folder, file)).catch((cause: unknown) => {
      throw new UserError('hosts-file', `the config ${file} of ${host.name} cannot be read`, { kind: 'usage', cause })
    })
  if (typeof ignition === 'string') return read(ignition)
  const { template, butane, values = {} } = ignition
  const file = (template ?? butane)!
  const filled = fill(
    (await read(file)).toString('utf8'),
    file,
    { ...valuesOf(host), ...values },
    template !== undefined,
  )
  return template === undefined ? translated(filled, file, parts) : Buffer.from(filled)
}

const valuesOf = (host: Host): Record<string, string> => ({
  name: host.name,
  hostname: host.hostname ?? host.name,
  address: host.ssh.address.replace(/^.*@|:\d+$/g, ''),
  mac: host.macs?.[0] ?? '',
})

/** Puts values in place of `{{key}}`; in JSON, as the inside of a string. */
function fill(text: string, file: string, values: Record<string, string | number | boolean>, json: boolean): string {
  return text.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined)
      throw new UserError(
        'hosts-file',
        `${file} wants a value ${name}, which the host does not have${didYouMean(name, Object.keys(values))}`,
        {
          kind: 'usage',
          remedy: 'put it under ignition.values',
        },
      )
    return json ? JSON.stringify(String(value)).slice(1, -1) : String(value)
  })
}

function translated(text: string, file: string, { folder, variables, signal }: SecretParts): Promise<Uint8Array> {
  return new Promise((resolveWith, reject) => {
    const child = execFile(
      'butane',
      ['--strict', '--files-dir', folder],
      {
        cwd: folder,
        env: variables as NodeJS.ProcessEnv,
        encoding: 'buffer',
        timeout: 30_000,
        ...defined({ signal }),
      },
      (error, stdout, stderr) => {
        if (!error) return resolveWith(stdout)
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
        const why = missing ? 'butane is not installed' : stderr.toString('utf8').trim()
        reject(new UserError('butane', `${file} cannot be translated: ${why}`, { kind: 'usage' }))
      },
    )
    child.stdin!.on('error', () => {})
    child.stdin!.end(text)
  })
}
