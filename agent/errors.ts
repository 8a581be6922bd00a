import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    agent: typeof ERRORS
  }
}

/** The codes of `agent/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-api-url': {
    sentence: 'the agent was started without the URL of Ironic',
    remedy: 'give the ramdisk the kernel parameter ipa-api-url=http://HOST:6385',
  },
  'agent-parameter': {
    sentence: 'a parameter of the agent has an unusable value',
    remedy: 'give a value of the form that the message names, or leave it out',
  },
})
