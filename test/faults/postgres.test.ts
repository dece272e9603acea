import { testScenarios } from './short-form.ts';

testScenarios('postgres');
