import { Anchor, Button, NavLink, Paper, type AnchorProps, type ButtonProps, type NavLinkProps, type PaperProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type AsLink<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** The library's components as links of the router: with checked paths, and loaded when the pointer comes near. */
export const LinkAnchor = createLink((props: AsLink<AnchorProps>) => <Anchor {...props} />);
export const LinkButton = createLink((props: AsLink<ButtonProps>) => <Button component="a" {...props} />);
export const LinkNav = createLink((props: AsLink<NavLinkProps>) => <NavLink {...props} />);
export const LinkPaper = createLink((props: AsLink<PaperProps>) => <Paper component="a" {...props} />);
