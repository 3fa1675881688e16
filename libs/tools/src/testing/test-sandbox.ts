import { NoSandbox } from '#sandbox';

/** Runs commands on the host and says that they are isolated: for programs of tests, which need no isolation. */
export class TrustingSandbox extends NoSandbox {
  override async probe() {
    return { ...(await super.probe()), isolation: 'namespaces' as const };
  }
}
