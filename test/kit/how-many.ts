import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Given by test/soak/vitest.config.ts. */
    soak?: true
  }
}

/** How many random cases a test looks at: some in every run of the suite, all of them in `npm run test:soak`. */
export const howMany = (some: number, all: number): number => (inject('soak') ? all : some)
