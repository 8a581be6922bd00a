import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  agentConfig,
  agentOf,
  type AgentConfigOptions,
  type AgentOnCoreos,
  type AgentTemplate,
  type AgentTls,
  type Keyfile,
} from '../../coreos/index.js'
import { FormatError, maskedAddresses } from '../../bytes/index.js'
import { summarizeIgnition, parseIgnition } from '../../ignition/index.js'
import { UserError } from '../../runtime/index.js'
import type { AGENT_CONFIG_SHAPES } from '../options/table/agent-config.js'
import type { Environment } from '../environment.js'
import { keyfilesOfNmstate } from '../installer/nmstate.js'
import type { Options } from '../options/options.js'

type AgentConfigFlags = Options<keyof typeof AGENT_CONFIG_SHAPES>

/**
 * `ironstage ignition agent-config`: prints the config that makes a live CoreOS run the agent, and tells beside it what
 * that does. What no flag says is looked for in the variables that image-customization-controller reads.
 */
export async function ignitionAgentConfig(flags: AgentConfigFlags, environment: Environment): Promise<number> {
  const config = agentConfig(await agentOptionsOf(flags, environment.variables))
  environment.stdout.write(`${JSON.stringify(config, null, 2)}\n`)
  const { files } = summarizeIgnition(parseIgnition(config))
  environment.stderr.write(
    `${[...agentLines(agentOf(config)!), ...files.map((path) => `  writes ${path}`)].join('\n')}\n`,
  )
  return 0
}

/** What a live CoreOS with such a config does, without secrets. */
export function agentLines({ unit, image, pull, options, restart }: AgentOnCoreos): string[] {
  const told = (name: string, otherwise: string) => (options[name] ? maskedAddresses(options[name]) : otherwise)
  const how = [
    ...(pull.authFile === null ? [] : ['with a pull secret']),
    ...(pull.tlsVerify ? [] : ["without a look at the registry's certificate"]),
    ...(Object.keys(pull.proxies).length === 0 ? [] : ['by a proxy']),
  ]
  return [
    `${unit} runs ${image}${how.length === 0 ? '' : `, pulled ${how.join(' and ')}`}`,
    `  Ironic      ${told('api_url', 'nowhere: the agent will not start')}`,
    `  inspection  ${told('inspection_callback_url', "by Ironic's own API")}`,
    `  failures    ${restart.when === 'no' ? 'not tried again' : `tried again after ${restart.delay / 1000} s`}`,
  ]
}

type Variables = Environment['variables']

/**
 * What the flags say of the agent, and where they say nothing the variables.
 *
 * @param otherwise the Ironic of an agent that is told of none
 */
export async function agentOptionsOf(
  flags: AgentConfigFlags,
  variables: Variables,
  otherwise?: string,
): Promise<AgentConfigOptions> {
  const said = (flag: keyof AgentConfigFlags, variable: string): string | undefined =>
    (flags[flag] as string | undefined) ?? (variables[variable] || undefined)
  const file = async (flag: keyof AgentConfigFlags, variable?: string): Promise<Buffer | undefined> => {
    const path = variable === undefined ? (flags[flag] as string | undefined) : said(flag, variable)
    return path === undefined ? undefined : contents(path, flags[flag] === undefined ? variable! : `--${flag}`)
  }
  const ironic = said('base-url', 'IRONIC_BASE_URL') ?? otherwise
  if (ironic === undefined)
    throw new UserError('agent-url', 'the agent has no Ironic to go to', {
      kind: 'usage',
      remedy: 'give --base-url http://HOST:6385, or set IRONIC_BASE_URL',
    })
  const keys = (await file('ssh-key'))?.toString() ?? variables['IRONIC_RAMDISK_SSH_KEY'] ?? ''
  const options: { [K in keyof AgentConfigOptions]: AgentConfigOptions[K] | undefined } = {
    template: flags.template as AgentTemplate | undefined,
    ironicUrls: [ironic],
    inspectorUrls: listed(said('inspector-url', 'IRONIC_INSPECTOR_BASE_URL')),
    // A registry that somebody names now means the default image, not one of the environment.
    image: flags['agent-registry'] === undefined ? said('agent-image', 'IRONIC_AGENT_IMAGE') : flags['agent-image'],
    registry: flags['agent-registry'],
    insecureRegistry: flags['insecure-registry'],
    pullSecret: (await file('pull-secret'))?.toString() ?? (variables['IRONIC_AGENT_PULL_SECRET'] || undefined),
    tls: flags['agent-tls'] as AgentTls | undefined,
    sshKeys: keys.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')),
    proxies: defined({
      http: said('http-proxy', 'HTTP_PROXY'),
      https: said('https-proxy', 'HTTPS_PROXY'),
      no: said('noproxy', 'NO_PROXY'),
    }),
    ntpServers: listed(said('ntp', 'ADDITIONAL_NTP_SERVERS')),
    registriesConf: await file('registries-conf', 'REGISTRIES_CONF_PATH'),
    caBundle: await file('ca-bundle', 'CA_BUNDLE'),
    vlanInterfaces: vlans(said('vlan-interfaces', 'IRONIC_AGENT_VLAN_INTERFACES')),
    ipOptions: said('ip-options', 'IP_OPTIONS'),
    copyNetwork: flags['copy-network'] === undefined ? undefined : flags['copy-network'] === 'yes',
    hostname: flags.hostname,
    keyfiles: [
      ...(await Promise.all(
        (flags.keyfile ?? []).map(async (path) => ({ name: basename(path), bytes: await contents(path, '--keyfile') })),
      )),
      ...(await fromNmstate(flags.nmstate ?? [], variables)),
    ],
    agentOptions: Object.fromEntries((flags['agent-option'] ?? []).map(nameAndValue)),
  }
  return defined(options) as AgentConfigOptions
}

const listed = (text: string | undefined): string[] =>
  (text ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))

/** ICC takes any other word for `auto`. */
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

/** Without what nobody has said. */
const defined = <T extends object>(object: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

async function contents(path: string, named: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new UserError('agent-config-file', `the file ${path} of ${named} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a file that is there',
    })
  }
}
