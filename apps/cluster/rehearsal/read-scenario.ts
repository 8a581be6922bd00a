import type { ErrorObject } from 'ajv'
import { schemaCheck } from '../../../base/schemas/index.js'
import { LineCounter, parseDocument } from 'yaml'
import {
  checkNesting,
  pointerParts,
  readNested,
  UserError,
  yamlPlace,
  yamlProblem,
} from '../../../base/runtime/index.js'
import { SERVES_FROM_NODES } from '../actors/machine-config-operator/machine-config-behaviours.js'
import { EXPECTATION_SCHEMAS, SCENARIO_SCHEMA, STEP_SCHEMAS } from './scenario-schema.js'
import { awaitedState } from './object-waits.js'
import { reachesRelease } from '../../../base/kubernetes/index.js'
import type { Scenario, ScenarioFile } from './scenario.js'
import { NO_BOOT_IMAGE } from './expectation-checks.js'
import { ERRORS } from '../errors.js'

/**
 * Reads a scenario from YAML or JSON.
 *
 * @throws UserError `scenario-file` (usage) with file, line and column of the first thing that is wrong
 */
export function readScenario(file: string, text: string): ScenarioFile {
  const lines = new LineCounter()
  const refusal = (message: string, place?: { line: number; col: number }) =>
    new UserError('scenario-file', `${file}${place ? `:${place.line}:${place.col}` : ''}: ${message}`, {
      kind: 'usage',
      remedy: ERRORS['scenario-file'].remedy,
    })
  const document = readNested(text, file, (each) => parseDocument(each, { lineCounter: lines }))
  const [error] = document.errors
  if (error) {
    const problem = yamlProblem(text, error)
    throw refusal([problem.message, ...problem.shown].join('\n'), problem)
  }
  const value = document.toJS({ maxAliasCount: 100 }) as unknown
  checkNesting(value, file)
  const found = firstProblem(value)
  if (found) throw refusal(found.message, yamlPlace(document, found.path, lines, 'value'))
  return value as ScenarioFile
}

interface ScenarioProblem {
  path: (string | number)[]
  message: string
}

function firstProblem(value: unknown): ScenarioProblem | undefined {
  const against = (schema: object, part: unknown, at: (string | number)[]): ScenarioProblem | undefined => {
    const check = schemaCheck(schema)
    return check.accepts(part) ? undefined : scenarioProblemOf(check.errors(), at)
  }
  const found = against(SCENARIO_SCHEMA, value, [])
  if (found) return found
  const { releases, cluster, steps } = value as ScenarioFile
  for (const [name, { version, release, coreos, iso }] of Object.entries(releases)) {
    if (release !== undefined) continue
    if (version === undefined) return { path: ['releases', name], message: `releases.${name} lacks version` }
    if (coreos === undefined && iso === undefined)
      return { path: ['releases', name], message: `releases.${name} names neither coreos, a version, nor an iso` }
  }
  const isRelease = (name: string): boolean => Object.hasOwn(releases, name)
  if (!isRelease(cluster.release)) return missingRelease(cluster.release, ['cluster', 'release'], releases)
  const ofCluster = clusterOnCloud(value as ScenarioFile) ?? clusterWithoutRegistry(value as ScenarioFile)
  if (ofCluster) return ofCluster
  for (const [index, step] of steps.entries()) {
    const problem = keyedProblem(step, ['steps', index], STEP_SCHEMAS, 'a step', against)
    if (problem) return problem
    if ('wait' in step && typeof step.wait === 'object') {
      const wrong = awaitedState(step.wait.for)
      if (typeof wrong === 'string') return { path: ['steps', index, 'wait', 'for'], message: wrong }
    }
    if ('expect' in step) {
      const wrong = keyedProblem(
        step.expect,
        ['steps', index, 'expect'],
        EXPECTATION_SCHEMAS,
        'an expectation',
        against,
      )
      if (wrong) return wrong
    }
    const misplaced = stepOnCloud(step, cluster) ?? stepWithRegistry(step, cluster)
    if (misplaced) return { ...misplaced, path: ['steps', index, ...misplaced.path] }
    for (const [path, name] of releasesIn(step))
      if (!isRelease(name)) return missingRelease(name, ['steps', index, ...path], releases)
    const missing = missingStream(step, releases)
    if (missing) return { ...missing, path: ['steps', index, ...missing.path] }
  }
  return undefined
}

/** Members of a cluster, of a step and of an expectation that are about hosts, of which there are none on a cloud. */
const HOST_MEMBERS = ['spares', 'hostStream', 'bootIsoSource'] as const
const HOST_STEPS: readonly string[] = [
  'power',
  'connect',
  'inspect',
  'reprovision',
  'clear',
  'bootstrap',
  'password',
  'network',
  'hostStream',
  'askIronic',
]
const HOST_EXPECTATIONS: readonly string[] = [
  'deployImage',
  'method',
  'state',
  'agent',
  'error',
  'ironic',
  'network',
  'refusedLogins',
  'networkBoots',
  'rollOuts',
]
const HOST_WAITS: readonly unknown[] = ['metal3', 'spares', 'installations']

function clusterOnCloud({ as, cluster }: ScenarioFile): ScenarioProblem | undefined {
  const { platform = 'BareMetal' } = cluster
  if (platform === 'BareMetal') return undefined
  if (as === 'document')
    return { path: ['cluster', 'platform'], message: 'cluster.platform: the design documents know bare metal alone' }
  const member = HOST_MEMBERS.find((name) => cluster[name] !== undefined)
  return member && { path: ['cluster', member], message: `cluster.${member} is about hosts: ${platform} has none` }
}

function clusterWithoutRegistry({ as, releases, cluster }: ScenarioFile): ScenarioProblem | undefined {
  if (cluster.network !== 'internal') return undefined
  const refused = (why: string): ScenarioProblem => ({
    path: ['cluster', 'network'],
    message: `cluster.network: internal ${why}`,
  })
  if (as === 'document') return refused('is not in the design documents')
  if ((cluster.platform ?? 'BareMetal') !== 'BareMetal') return refused('is played on bare metal alone')
  const { version } = releases[cluster.release]!
  const since = SERVES_FROM_NODES.since!
  if (version !== undefined && !reachesRelease(version, since))
    return refused(`needs a release from ${since} on, and ${cluster.release} is ${version}`)
  if ((cluster.controlPlane ?? 0) === 0) return refused('needs nodes of the control plane: controlPlane: 1')
  return undefined
}

/** Steps and expectations about the registry of a control plane, in a cluster that has none. */
function stepWithRegistry(step: object, { network }: ScenarioFile['cluster']): ScenarioProblem | undefined {
  if (network === 'internal') return undefined
  const isExpected = 'expect' in step && Object.hasOwn(step.expect as object, 'internalRegistry')
  const name = 'mirror' in step ? 'mirror' : isExpected ? 'internalRegistry' : undefined
  if (name === undefined) return undefined
  const path = isExpected ? ['expect', name] : [name]
  return { path, message: `${name} is about a cluster that was installed without a registry: network: internal` }
}

function stepOnCloud(step: object, { platform = 'BareMetal' }: ScenarioFile['cluster']): ScenarioProblem | undefined {
  if (platform === 'BareMetal') return undefined
  const refused = (name: string, path: string[]): ScenarioProblem => ({
    path,
    message: `${name} is about hosts: a cluster on ${platform} has none`,
  })
  const [key] = Object.keys(step).filter((name) => HOST_STEPS.includes(name))
  if (key !== undefined) return refused(key, [key])
  const { wait, expect = {} } = step as { wait?: unknown; expect?: object }
  if (HOST_WAITS.includes(wait)) return refused(`wait: ${String(wait)}`, ['wait'])
  const [expected] = Object.keys(expect).filter((name) => HOST_EXPECTATIONS.includes(name))
  return expected === undefined ? undefined : refused(expected, ['expect', expected])
}

function keyedProblem(
  value: object,
  path: (string | number)[],
  schemas: Readonly<Record<string, object>>,
  thing: string,
  against: (schema: object, part: unknown, at: (string | number)[]) => ScenarioProblem | undefined,
): ScenarioProblem | undefined {
  const keys = Object.keys(value).filter((each) => Object.hasOwn(schemas, each))
  // Some keys are a kind by themselves, and a detail of another.
  const key = keys.find((each) => keys.every((other) => detailsOf(schemas[each]!).includes(other))) ?? keys[0]
  if (key !== undefined) return against(schemas[key]!, value, path)
  const names = Object.keys(schemas).join(', ')
  return { path: [...path, Object.keys(value)[0]!], message: `${thing} is one of: ${names}` }
}

const detailsOf = (schema: object): string[] => Object.keys((schema as { properties: object }).properties)

/** The releases that a step names, with where it does. */
function releasesIn(step: Scenario['steps'][number]): [(string | number)[], string][] {
  const named = (path: (string | number)[], name: string | undefined): [(string | number)[], string][] =>
    name === undefined ? [] : [[path, name]]
  if ('upgrade' in step) return [...named(['upgrade'], step.upgrade), ...named(['image'], step.image)]
  if ('mirror' in step) return named(['mirror'], step.mirror)
  if ('failPulls' in step) return named(['of'], step.of)
  if ('connect' in step) return named(['supportedSince'], step.supportedSince)
  if ('bootImage' in step) return named(['bootImage'], step.bootImage)
  if ('bootstrap' in step) return named(['bootstrap'], step.bootstrap)
  if (!('expect' in step)) return []
  const { expect } = step
  if ('deployImage' in expect) return named(['expect', 'deployImage'], expect.deployImage)
  if ('runs' in expect) return named(['expect', 'runs'], expect.runs)
  if ('installedFrom' in expect) return named(['expect', 'installedFrom'], expect.installedFrom)
  if ('bootImageOf' in expect) return expect.is === NO_BOOT_IMAGE ? [] : named(['expect', 'is'], expect.is)
  if ('pulled' in expect) return named(['expect', 'of'], expect.of)
  if ('agent' in expect) return named(['expect', 'agent'], expect.agent)
  return []
}

/** A stream that a step names and no release has, or not the one that it is about. Labels of hosts may name any. */
function missingStream(
  step: Scenario['steps'][number],
  releases: ScenarioFile['releases'],
): ScenarioProblem | undefined {
  const all = Object.values(releases).flatMap(streamsIn)
  const unless = (known: readonly string[], name: string | undefined, path: string[]): ScenarioProblem | undefined =>
    name === undefined || known.includes(name) || known.includes(ANY_STREAM)
      ? undefined
      : { path, message: `there is no stream ${name}${amongStreams(new Set(known))}` }
  if ('poolStream' in step) return unless(all, step.poolStream, ['poolStream'])
  if ('defaultStream' in step) return unless(all, step.defaultStream, ['defaultStream'])
  if (!('expect' in step)) return undefined
  const { expect } = step
  if ('poolStream' in expect) return unless([...all, 'none'], expect.poolStream, ['expect', 'poolStream'])
  const about = 'runs' in expect ? expect.runs : 'deployImage' in expect ? expect.deployImage : undefined
  const { stream } = expect as { stream?: string }
  return about === undefined ? undefined : unless(streamsIn(releases[about]!), stream, ['expect', 'stream'])
}

const amongStreams = (known: ReadonlySet<string>): string =>
  known.size > 0 ? ` among: ${[...known].join(', ')}` : ': no release names any with streams'

/** In place of the streams of a release image of the user's own, which are not known before it is read. */
const ANY_STREAM = '*'

function streamsIn({ streams, release }: ScenarioFile['releases'][string]): string[] {
  if (release !== undefined) return [ANY_STREAM]
  return streams === undefined ? [] : ['rhel-9', ...Object.keys(streams)]
}

const missingRelease = (
  name: string,
  path: (string | number)[],
  releases: ScenarioFile['releases'],
): ScenarioProblem => ({
  path,
  message: `there is no release ${name} among: ${Object.keys(releases).join(', ')}`,
})

/** The deepest error: the others follow from it. */
function scenarioProblemOf(errors: readonly ErrorObject[], at: (string | number)[]): ScenarioProblem {
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const error = errors.reduce((deepest, each) => (depth(each) > depth(deepest) ? each : deepest))
  const path = [...at, ...pointerParts(error.instancePath)]
  const where = path.length > 0 ? `${path.join('.')} ` : ''
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'additionalProperties':
      return {
        path: [...path, String(params['additionalProperty'])],
        message: `${where}has no key ${String(params['additionalProperty'])}`,
      }
    case 'required':
      return { path, message: `${where}lacks ${String(params['missingProperty'])}` }
    case 'const':
      return { path, message: `${where}can only be ${String(params['allowedValue'])}` }
    case 'enum':
      return { path, message: `${where}is one of: ${(params['allowedValues'] as unknown[]).join(', ')}` }
    default:
      return { path, message: `${where}${error.message ?? 'is wrong'}` }
  }
}
