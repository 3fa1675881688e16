import type { ReactNode } from 'react';
import { LoginPage } from './login-page.js';
import { useLogin } from './use-login.js';

/** The pages for a person who has signed in; else the login page, at the same address. */
export function LoginGate({ children }: { readonly children: ReactNode }) {
  const { data, isPending } = useLogin();
  if (isPending) return null;
  return data?.signedIn === true ? children : <LoginPage provider={data?.provider} />;
}
