import { IronicError, ironicErrors, type NodeRecord } from '../../../base/wire/index.js'
import { bmcErrorText } from '../../drivers/bmc-error-text.js'
import type { BmcHardware, Indicators } from '../../drivers/bmc-hardware.js'
import type { ManagementCall } from '../../drivers/hardware-type.js'
import { fixedAnswers, managementProblem } from '../../drivers/management.js'
import { powerProblem, describeUnsupported } from '../../drivers/requirements.js'
import { vendorMethods } from '../../drivers/vendor.js'
import type { StoreView } from '../../store/open-store.js'
import type { Store } from '../../store/store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import type { HardwareCalls } from './hardware-calls.js'
import { checkUnlocked } from '../records/node-admin.js'
import type { AgentSubject } from '../agents/perform-agent.js'
import type { EffectRunner } from '../core/effect-runner.js'
import { callVendor } from './vendor-calls.js'

export interface HardwareParts {
  store: Store & StoreView
  dispatcher: Dispatcher
  effects: EffectRunner
}

export function hardwareCalls({ store, dispatcher, effects }: HardwareParts): HardwareCalls {
  const subjectOf = (uuid: string): AgentSubject => {
    const subject = dispatcher.subject(uuid)
    if (!subject) throw ironicErrors.nodeNotFound(uuid)
    return subject
  }
  /** @throws IronicError 400 when the management interface does not support the call, or has no BMC address */
  const managed = (uuid: string, call: ManagementCall): AgentSubject => {
    const subject = subjectOf(uuid)
    const problem = powerProblem(subject.node) ?? managementProblem(subject.node, call)
    if (problem !== undefined) throw new IronicError(400, problem)
    return subject
  }
  const ask = async <T>(subject: AgentSubject, question: (hardware: BmcHardware) => Promise<T>): Promise<T> => {
    try {
      const hardware = await effects.hardware(subject)
      if (!hardware) throw new Error(`there is no BMC behind node ${subject.node.uuid}`)
      return await question(hardware)
    } catch (error) {
      if (error instanceof IronicError) throw error
      throw new IronicError(502, bmcErrorText(subject.node, error))
    }
  }
  const start = async (uuid: string, request: Parameters<typeof requestEvent>[0]): Promise<void> => {
    await dispatcher.dispatch(uuid, requestEvent(request))
  }
  const indicators = async (subject: AgentSubject): Promise<Indicators> =>
    fixedAnswers(subject.node)?.indicators ?? ask(subject, (hardware) => hardware.indicators())

  return {
    setBootMode: (uuid, mode) => start(uuid, { do: 'boot mode', mode }),
    setSecureBoot: (uuid, on) => start(uuid, { do: 'secure boot', on }),
    attachMedia: (uuid, device, url) => start(uuid, { do: 'attach', device, url }),
    detachMedia: (uuid, devices) => start(uuid, { do: 'detach', devices: devices && [...devices] }),
    media: async (uuid) => ask(managed(uuid, 'get_virtual_media'), (hardware) => hardware.media()),

    injectNmi: async (uuid) => {
      checkUnlocked(subjectOf(uuid).node)
      await ask(managed(uuid, 'inject_nmi'), (hardware) => hardware.change({ change: 'nmi' }))
    },

    indicators: async (uuid) => indicators(managed(uuid, 'get_supported_indicators')),
    indicator: async (uuid, component, name) => {
      checkUnlocked(subjectOf(uuid).node)
      const subject = managed(uuid, 'get_indicator_state')
      checkIndicator(await indicators(subject), component, name)
      return fixedAnswers(subject.node)?.indicators
        ? 'on'
        : ask(subject, (hardware) => hardware.indicator(component, name))
    },
    setIndicator: async (uuid, component, name, state) => {
      checkUnlocked(subjectOf(uuid).node)
      const subject = managed(uuid, 'set_indicator_state')
      checkIndicator(await indicators(subject), component, name)
      await ask(subject, (hardware) => hardware.change({ change: 'indicator', component, name, state }))
    },

    setConsole: async (uuid, on) => {
      const { node } = subjectOf(uuid)
      checkConsole(node)
      await start(uuid, { do: 'console', on })
    },
    console: async (uuid) => {
      const { node } = subjectOf(uuid)
      if (!node.console_enabled) return null
      checkConsole(node)
      return {}
    },

    vendorMethods: async (uuid) => vendorMethods(subjectOf(uuid).node),
    callVendor: (uuid, call) =>
      callVendor(subjectOf(uuid), call, { ask, start: (request) => start(uuid, request), unlocked: checkUnlocked }),

    bios: async (uuid) => store.nodeList(subjectOf(uuid).node.uuid, 'bios'),
    firmware: async (uuid) => store.nodeList(subjectOf(uuid).node.uuid, 'firmware'),
  }
}

const requestEvent = (request: Extract<Parameters<Dispatcher['dispatch']>[1], { kind: 'hardware' }>['request']) =>
  ({ kind: 'hardware', request }) as const

function checkIndicator(known: Indicators, component: string, name: string): void {
  if (!Object.hasOwn(known, component)) throw new IronicError(400, `Invalid component ${component} specified.`)
  if (!Object.hasOwn(known[component]!, name)) throw new IronicError(400, `Invalid indicator ${name} specified.`)
}

function checkConsole(node: Readonly<NodeRecord>): void {
  if (node.console_interface.startsWith('no-')) throw new IronicError(400, describeUnsupported(node, 'console'))
}
