import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hash } from 'bcryptjs'
import { parse, parseAllDocuments } from 'yaml'
import { succeeds } from './peers.js'

const DEPLOY = new URL('../../deploy/', import.meta.url).pathname

/** A process of ironstage as a file of `deploy/` has it. */
export interface DeployedProcess {
  readonly name: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Secrets as the files ask for them, each in a file of a folder. */
export const DEPLOYED_SECRETS = {
  'database-password': 'of the database',
  'bmc-password': 'of-the-bmcs',
  'ironic-password': 'of-ironic',
} as const

export async function writeSecrets(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, secret] of Object.entries(DEPLOYED_SECRETS)) await writeFile(join(folder, name), secret)
  await writeFile(join(folder, 'htpasswd'), `ironic:${await hash(DEPLOYED_SECRETS['ironic-password'], 5)}\n`)
}

interface ComposeFile {
  readonly services: Readonly<Record<string, { command?: string[]; environment?: Record<string, string> }>>
}

/** The processes of `deploy/compose.yaml`. */
export async function composeProcesses(): Promise<DeployedProcess[]> {
  const text = await readFile(join(DEPLOY, 'compose.yaml'), 'utf8')
  const filled = text.replaceAll(/\$\{IRONIC_PASSWORD:[^}]*\}/g, DEPLOYED_SECRETS['ironic-password'])
  const { services } = parse(filled, { merge: true }) as ComposeFile
  return Object.entries(services).flatMap(([name, { command: argv, environment: env = {} }]) =>
    argv?.[0] === 'up' ? [{ name, argv, env }] : [],
  )
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef?: { readonly key: keyof typeof DEPLOYED_SECRETS } }
}

interface Workload {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: {
    readonly replicas?: number
    readonly template?: { spec: { containers: { args?: string[]; env?: Variable[] }[] } }
  }
}

/**
 * The processes of `deploy/kubernetes`, a pod each.
 *
 * @param folder where the files are built
 */
export async function kubernetesProcesses(folder: string): Promise<DeployedProcess[]> {
  await cp(join(DEPLOY, 'kubernetes'), folder, { recursive: true })
  await writeSecrets(folder)
  const built = parseAllDocuments(await succeeds('kubectl', 'kustomize', folder))
  return built.flatMap((document) => podsOf(document.toJS() as Workload))
}

function podsOf({ metadata, spec: { replicas = 1, template } = {} }: Workload): DeployedProcess[] {
  const [container] = template?.spec.containers ?? []
  if (container?.args?.[0] !== 'up') return []
  return Array.from({ length: replicas }, (_, index) => {
    const name = `${metadata.name}-${index}`
    const env = Object.fromEntries((container.env ?? []).map((variable) => [variable.name, valueOf(variable, name)]))
    const argv = container.args!.map((text) => text.replaceAll(/\$\((\w+)\)/g, (_all, key: string) => env[key] ?? _all))
    return { name, argv, env }
  })
}

const valueOf = ({ value, valueFrom }: Variable, pod: string): string =>
  value ?? (valueFrom?.secretKeyRef ? DEPLOYED_SECRETS[valueFrom.secretKeyRef.key] : pod)

/** Where on loopback the hosts and folders of the files are. */
export interface LoopbackPlaces {
  /** Folder of secrets and states. */
  readonly folder: string
  readonly databasePort: number
  /** Port of the proxy in front of the APIs. */
  readonly proxyPort: number
  readonly port: number
  readonly redfishPort: number
}

/** The same process where all hosts are this one: with other names, ports and folders, and else as it is. */
export function onLoopback({ name, argv, env }: DeployedProcess, places: LoopbackPlaces): DeployedProcess {
  const local = (text: string): string =>
    text
      .replaceAll('/run/secrets/ironic/', `${places.folder}/secrets/`)
      .replaceAll('/run/secrets/', `${places.folder}/secrets/`)
      .replaceAll('/var/lib/ironstage', join(places.folder, name))
      .replace('@database/', `@127.0.0.1:${places.databasePort}/`)
      .replace(/(?<=public_endpoint=http:\/\/)(proxy|ironic):6385/, `127.0.0.1:${places.proxyPort}`)
      .replace(/(?<=^--(host|advertise)=).*/, '127.0.0.1')
      .replace(/(?<=^--redfish-port=)8000$/, String(places.redfishPort))
      .replace(/(?<=^--port=)6385$/, String(places.port))
  const own = argv.some((word) => word.startsWith('--port=')) ? [] : [`--port=${places.port}`]
  return {
    name,
    argv: [...argv.map(local), ...own],
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, local(value)])),
  }
}

/** `deploy/haproxy.cfg` for APIs of loopback, with a socket that tells how its servers are. */
export async function loopbackProxyConfig(
  proxyPort: number,
  ports: readonly number[],
  socket: string,
): Promise<string> {
  const text = await readFile(join(DEPLOY, 'haproxy.cfg'), 'utf8')
  const servers = ports.reduce(
    (config, port, index) => config.replace(`api-${index + 1}:6385`, `127.0.0.1:${port}`),
    text.replace('bind :6385', `bind 127.0.0.1:${proxyPort}`),
  )
  return `global\n  stats socket ${socket} level user\n${servers}`
}
