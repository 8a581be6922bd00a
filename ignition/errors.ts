import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    ignition: typeof ERRORS
  }
}

/** The codes of `ignition/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'ignition-butane': {
    sentence: 'the file is a Butane config',
    remedy: 'translate it to an Ignition config with butane --strict',
  },
  'ignition-cloud-config': {
    sentence: 'the file is cloud-init user data, and CoreOS has no cloud-init',
    remedy: 'write an Ignition config',
  },
  'ignition-cycle': {
    sentence: 'an Ignition config refers to itself',
    remedy: 'remove the reference',
  },
  'ignition-empty': {
    sentence: 'the Ignition config is empty',
    remedy: 'give a config, or leave out the option',
  },
  'ignition-invalid': {
    sentence: 'the Ignition config is not valid',
    remedy: 'run ironstage ignition validate',
  },
  'ignition-iso': {
    sentence: 'the file is an ISO image',
    remedy: 'take the config out of it with ironstage iso ignition show',
  },
  'ignition-kickstart': {
    sentence: 'the file is a kickstart, and CoreOS has no Anaconda',
    remedy: 'write a Butane config, and translate it with butane --strict',
  },
  'ignition-loss': {
    sentence: 'the target version of the Ignition spec cannot express part of the config',
    remedy: "keep the config's version, or remove those parts",
  },
  'ignition-machine-config': {
    sentence: 'the file is a MachineConfig of OpenShift',
    remedy: 'take the Ignition config out of its spec.config',
  },
  'ignition-not-a-config': {
    sentence: 'the file is a source format, not an Ignition config',
    remedy: 'run it through butane',
  },
  'ignition-not-json': {
    sentence: 'the Ignition config is not JSON in UTF-8',
    remedy: 'correct the syntax',
  },
  'ignition-old-version': {
    sentence: 'the Ignition config has spec version 1 or 2, and CoreOS reads only version 3',
    remedy: 'translate the config to spec version 3',
  },
  'ignition-resource': {
    sentence: 'a resource of the Ignition config cannot be read',
    remedy: 'run ironstage ignition validate',
  },
  'ignition-unknown-version': {
    sentence: 'the Ignition config has an unsupported spec version',
    remedy: 'use a supported version',
  },
})
