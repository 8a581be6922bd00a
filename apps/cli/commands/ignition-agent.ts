import { basename } from 'node:path'
import {
  agentConfig,
  agentOf,
  type AgentConfigOptions,
  type AgentOnCoreos,
  type AgentTemplate,
  type AgentTls,
  type Keyfile,
} from '../../../coreos/index.js'
import { FormatError, maskedAddresses } from '../../../base/bytes/index.js'
import { summarizeIgnition, parseIgnition } from '../../../ignition/index.js'
import { UserError, readNamedFile } from '../../../base/runtime/index.js'
import type { AGENT_CONFIG_SHAPES } from '../options/table/agent-config-shapes.js'
import type { Environment } from '../environment.js'
import { keyfilesOfNmstate } from '../installer/nmstate.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type AgentConfigFlags = CommandOptionValues<keyof typeof AGENT_CONFIG_SHAPES>

/**
 * `ironstage ignition agent-config`: prints the config that makes a live CoreOS run the agent, and a summary of it on
 * standard error. Values without a flag come from the variables that image-customization-controller reads.
 */
export async function ignitionAgentConfig(flags: AgentConfigFlags, environment: Environment): Promise<number> {
  const config = agentConfig(await agentOptionsOf(flags, environment.variables))
  environment.stdout.document(config)
  const { files } = summarizeIgnition(parseIgnition(config))
  environment.stderr.lines([...agentLines(agentOf(config)!), ...files.map((path) => `  writes ${path}`)])
  return 0
}

/** Describes what a live CoreOS with such a config does, without secrets. */
export function agentLines({ unit, image, pull, options, restart }: AgentOnCoreos): string[] {
  const optionOr = (name: string, otherwise: string) => (options[name] ? maskedAddresses(options[name]) : otherwise)
  const how = [
    ...(pull.authFile === null ? [] : ['with a pull secret']),
    ...(pull.tlsVerify ? [] : ["without a look at the registry's certificate"]),
    ...(Object.keys(pull.proxies).length === 0 ? [] : ['by a proxy']),
  ]
  return [
    `${unit} runs ${image}${how.length === 0 ? '' : `, pulled ${how.join(' and ')}`}`,
    `  Ironic      ${optionOr('api_url', 'nowhere: the agent will not start')}`,
    `  inspection  ${optionOr('inspection_callback_url', "by Ironic's own API")}`,
    `  failures    ${restart.when === 'no' ? 'not tried again' : `tried again after ${restart.delay / 1000} s`}`,
  ]
}

type Variables = Environment['variables']

/**
 * Options of the agent from the flags, else from the variables.
 *
 * @param otherwise the Ironic of an agent when neither names one
 */
export async function agentOptionsOf(
  flags: AgentConfigFlags,
  variables: Variables,
  otherwise?: string,
): Promise<AgentConfigOptions> {
  const valueOf = (flag: keyof AgentConfigFlags, variable: string): string | undefined =>
    (flags[flag] as string | undefined) ?? (variables[variable] || undefined)
  const file = async (flag: keyof AgentConfigFlags, variable?: string): Promise<Buffer | undefined> => {
    const path = variable === undefined ? (flags[flag] as string | undefined) : valueOf(flag, variable)
    return path === undefined ? undefined : readAgentFile(path, flags[flag] === undefined ? variable! : `--${flag}`)
  }
  const ironic = valueOf('base-url', 'IRONIC_BASE_URL') ?? otherwise
  if (ironic === undefined)
    throw usageError(
      'the agent has no Ironic to go to',
      'give --base-url http://HOST:6385, or set IRONIC_BASE_URL',
      'agent-url',
    )
  const keys = (await file('ssh-key'))?.toString() ?? variables['IRONIC_RAMDISK_SSH_KEY'] ?? ''
  const options: { [K in keyof AgentConfigOptions]: AgentConfigOptions[K] | undefined } = {
    template: flags.template as AgentTemplate | undefined,
    ironicUrls: [ironic],
    inspectorUrls: splitCommaList(valueOf('inspector-url', 'IRONIC_INSPECTOR_BASE_URL')),
    // --agent-registry means the default image in that registry, not the image that the environment names.
    image: flags['agent-registry'] === undefined ? valueOf('agent-image', 'IRONIC_AGENT_IMAGE') : flags['agent-image'],
    registry: flags['agent-registry'],
    insecureRegistry: flags['insecure-registry'],
    pullSecret: (await file('pull-secret'))?.toString() ?? (variables['IRONIC_AGENT_PULL_SECRET'] || undefined),
    tls: flags['agent-tls'] as AgentTls | undefined,
    sshKeys: keys.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')),
    proxies: defined({
      http: valueOf('http-proxy', 'HTTP_PROXY'),
      https: valueOf('https-proxy', 'HTTPS_PROXY'),
      no: valueOf('noproxy', 'NO_PROXY'),
    }),
    ntpServers: splitCommaList(valueOf('ntp', 'ADDITIONAL_NTP_SERVERS')),
    registriesConf: await file('registries-conf', 'REGISTRIES_CONF_PATH'),
    caBundle: await file('ca-bundle', 'CA_BUNDLE'),
    vlanInterfaces: vlans(valueOf('vlan-interfaces', 'IRONIC_AGENT_VLAN_INTERFACES')),
    ipOptions: valueOf('ip-options', 'IP_OPTIONS'),
    copyNetwork: flags['copy-network'] === undefined ? undefined : flags['copy-network'] === 'yes',
    hostname: flags.hostname,
    keyfiles: [
      ...(await Promise.all(
        (flags.keyfile ?? []).map(async (path) => ({
          name: basename(path),
          bytes: await readAgentFile(path, '--keyfile'),
        })),
      )),
      ...(await fromNmstate(flags.nmstate ?? [], variables)),
    ],
    agentOptions: Object.fromEntries((flags['agent-option'] ?? []).map(nameAndValue)),
  }
  return defined(options) as AgentConfigOptions
}

const splitCommaList = (text: string | undefined): string[] =>
  (text ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))

/** image-customization-controller reads any other word as `auto`. */
function vlans(text: string | undefined): AgentConfigOptions['vlanInterfaces'] {
  const word = text?.toLowerCase()
  return word === 'always' || word === 'never' ? word : undefined
}

function nameAndValue(text: string): [string, string] {
  const equals = text.indexOf('=')
  return [text.slice(0, equals), text.slice(equals + 1)]
}

async function fromNmstate(paths: readonly string[], variables: Variables): Promise<Keyfile[]> {
  try {
    return await keyfilesOfNmstate(paths, { variables })
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new UserError('agent-config-nmstate', 'no keyfiles can be made of the network states', {
      cause,
      kind: 'usage',
      remedy: 'see what nmstatectl gc says of them, or give keyfiles with --keyfile',
    })
  }
}

/** The object without the keys whose value is undefined. */
const defined = <T extends object>(object: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

async function readAgentFile(path: string, named: string): Promise<Buffer> {
  try {
    return await readNamedFile(path)
  } catch (cause) {
    throw new UserError('agent-config-file', `the file ${path} of ${named} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a file that is there',
    })
  }
}
